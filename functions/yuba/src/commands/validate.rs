//! `yuba validate PATH…`: checks manifests without a server, and against the code where that lies beside them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use yuba_core::manifest::{ManifestSet, Severity, StackManifest, read_set};
use yuba_core::state_address::CodeBackend;
use yuba_git::root_module::RootModule;

use super::manifest_files;
use crate::done::{Done, Format, code};
use crate::render;

/// Arguments of `yuba validate`.
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// Manifest files, or directories; of those every *.yaml, *.yml and *.json below is read
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Fail on warnings too
    #[arg(long)]
    strict: bool,
}

/// Checks manifests; exit code 1 where a document would be held back.
pub(crate) fn run(args: &ValidateArgs, format: Format) -> anyhow::Result<Done> {
    let found = manifest_files::find(&args.paths)?;
    if found.files.is_empty() && found.findings.is_empty() {
        let paths: Vec<String> = args.paths.iter().map(|path| path.display().to_string()).collect();
        bail!("no manifests found in {}", paths.join(", "));
    }
    let mut set = read_set(&found.files);
    set.findings.extend(found.findings);
    set.findings.sort_by(|one, other| (&one.place, one.severity).cmp(&(&other.place, other.severity)));
    set.look_into_code(backend_in_code);
    let code = if fails(&set, args.strict) { code::FAILED } else { code::FINE };
    Ok(match format {
        Format::Table => Done::text(render::validate::text(&set), code),
        Format::Json => Done::json(&render::validate::json(&set), code),
        Format::Yaml => Done::yaml(&render::validate::json(&set), code),
    })
}

fn fails(set: &ManifestSet, strict: bool) -> bool {
    let has = |severity| set.of_severity(severity).next().is_some();
    has(Severity::Error) || (strict && has(Severity::Warning))
}

/// What the code says of its backend, where the repository of the manifest holds it. That it is the same repository as
/// the stack's source cannot be known here; a directory of that name in it is taken as a sign.
fn backend_in_code(stack: &StackManifest) -> CodeBackend {
    let directory = repository_of(Path::new(&stack.place.file)).map(|root| root.join(&stack.spec.path));
    let module = directory.and_then(|directory| read_module(&directory));
    module.map_or(CodeBackend::Unseen, |module| module.code_backend())
}

/// The working copy that a file lies in.
fn repository_of(file: &Path) -> Option<PathBuf> {
    let real = file.canonicalize().ok()?;
    real.ancestors().find(|above| above.join(".git").exists()).map(Path::to_owned)
}

/// What the files of a root module in a working copy say; `None` where there is no such directory.
pub(crate) fn read_module(directory: &Path) -> Option<RootModule> {
    let entries = fs::read_dir(directory).ok()?;
    let files: Vec<(String, String)> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .filter(|(name, _)| RootModule::wants(name))
        .filter_map(|(name, path)| Some((name, fs::read_to_string(path).ok()?)))
        .collect();
    Some(RootModule::read(files.iter().map(|(name, text)| (name.as_str(), text.as_str()))))
}
