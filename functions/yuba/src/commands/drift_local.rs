//! `yuba drift check --local DIR…`: drift of plain directories, without a server.
//!
//! Everything happens in a private copy: nothing is written into the directories, and no state is locked.

mod copy;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use yuba_runner::{LocalCheck, LocalDrift, check_local_drift};

use super::validate::read_module;
use crate::done::{Done, Format, code};
use crate::render;

/// A directory and what its check came to.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The directory as it was given.
    pub(crate) directory: String,
    /// What was found, or why nothing could be.
    pub(crate) outcome: anyhow::Result<LocalDrift>,
}

/// Checks directories one after the other. Exit code 1 where one could not be checked, else 2 where one drifted.
pub(crate) fn run(
    directories: &[PathBuf],
    format: Format,
    environment: &BTreeMap<String, String>,
) -> anyhow::Result<Done> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut checked = Vec::new();
    for directory in directories {
        let outcome = runtime.block_on(check(directory, environment));
        checked.push(Checked { directory: directory.display().to_string(), outcome });
    }
    let code = exit_code(&checked);
    Ok(match format {
        Format::Table => Done::text(render::drift_local::text(&checked), code),
        Format::Json => Done::json(&render::drift_local::json(&checked), code),
        Format::Yaml => Done::yaml(&render::drift_local::json(&checked), code),
    })
}

fn exit_code(checked: &[Checked]) -> u8 {
    let drifted = |checked: &Checked| checked.outcome.as_ref().is_ok_and(|found| found.report.is_drifted());
    if checked.iter().any(|checked| checked.outcome.is_err()) {
        code::FAILED
    } else if checked.iter().any(drifted) {
        code::DRIFT
    } else {
        code::FINE
    }
}

async fn check(directory: &Path, environment: &BTreeMap<String, String>) -> anyhow::Result<LocalDrift> {
    let meta = fs::metadata(directory).context("it cannot be read")?;
    ensure!(meta.is_dir(), "it is not a directory");
    let module = read_module(directory).context("it cannot be read")?;
    ensure!(module.has_configuration, "it holds no .tf files");
    let copy = copy::of(directory).with_context(|| format!("cannot copy {}", directory.display()))?;
    let check = LocalCheck { module: &copy.module, work: copy.work(), environment };
    Ok(check_local_drift(&check).await?)
}
