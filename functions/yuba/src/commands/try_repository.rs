//! `yuba try PATH`: what Yuba would make of somebody's own repository. Reads Git's objects only: takes no lock, writes
//! nothing, runs nothing that the repository names.

mod commits;
mod discover;
mod engine;
mod layout;
mod survey;
mod trial;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use yuba_git::Repository;
use yuba_runner::{EngineOnPath, engines_on_path};

use crate::done::{Done, Format, code};
use crate::render;

pub(crate) use commits::{CommitSeen, Effect, Touched};
pub(crate) use layout::Origin;
pub(crate) use trial::{BackendNamed, StackSeen, Trial};

/// Arguments of `yuba try`.
#[derive(Debug, Args)]
pub(crate) struct TryArgs {
    /// A Git repository, or a directory in it
    #[arg(value_name = "PATH", default_value = ".")]
    path: PathBuf,
    /// How many of the last commits to look at
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    commits: u32,
}

/// Looks at a repository.
pub(crate) fn run(
    args: &TryArgs,
    output: Format,
    environment: &BTreeMap<String, String>,
) -> anyhow::Result<Done> {
    let path = args.path.canonicalize().with_context(|| format!("cannot read {}", args.path.display()))?;
    let repository = Repository::discover(&path)?;
    if repository.is_unborn()? {
        bail!("{} has no commit yet; commit something, then try again", args.path.display());
    }
    let head = repository.resolve("HEAD")?;
    let asked = trial::Asked {
        shown: path.display().to_string(),
        scope: scope(&repository, &path),
        commits: usize::try_from(args.commits)?,
        engines: engines(environment)?,
    };
    let trial = trial::look(&repository, &head, asked)?;
    Ok(match output {
        Format::Table => Done::text(render::try_repository::text(&trial), code::FINE),
        Format::Json => Done::json(&render::try_repository::json(&trial), code::FINE),
        Format::Yaml => Done::yaml(&render::try_repository::json(&trial), code::FINE),
    })
}

/// The directory that is asked about, relative to the repository's root.
fn scope(repository: &Repository, path: &Path) -> String {
    let root = repository.work_dir().and_then(|root| root.canonicalize().ok());
    let below = root.as_deref().and_then(|root| path.strip_prefix(root).ok());
    // Inside `.git`, the whole repository is meant.
    let below = below.filter(|below| !below.starts_with(".git"));
    below.map(|below| below.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The engines on the PATH. What they answer is kept nowhere.
fn engines(environment: &BTreeMap<String, String>) -> anyhow::Result<Vec<EngineOnPath>> {
    let nowhere = PathBuf::from("/dev/null/yuba");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(runtime.block_on(engines_on_path(environment, &nowhere)))
}
