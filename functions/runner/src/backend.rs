//! Where the state lies: override files with the manifest's backend, and, where nobody names a place that outlives the
//! run, with the installation's own state file.

use std::fs;
use std::path::Path;

use yuba_core::manifest::read_backend;
use yuba_core::spec::StackSpec;
use yuba_core::state_address::BackendBlock;

use crate::ended::{Ended, Step};

/// What the manifest says. Files of this kind are merged in the order of their names, the last one wins.
const MANIFEST_FILE: &str = "yuba_override.tf";
/// The installation's own state.
const STATE_FILE: &str = "yuba_state_override.tf";

/// Who names the backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    /// The manifest, or else the code.
    Named,
    /// Nobody, or it would lie in the work directory: the state lies with the installation.
    Nobody,
}

/// Writes the override files into the root module, where they are needed.
pub(crate) fn write(
    module: &Path,
    spec: &StackSpec,
    in_code: Option<BackendBlock>,
    local_state: Option<&str>,
) -> Step<Backend> {
    let mut block = in_code;
    if let Some(body) = &spec.backend {
        put(module, MANIFEST_FILE, &format!("terraform {{\n{}\n}}\n", body.trim_end()))?;
        // What is no HCL is the engine's to report.
        block = read_backend(body).ok().flatten().or(block);
    }
    if block.is_some_and(|block| !block.lies_beside_the_code(&spec.workspace)) {
        return Ok(Backend::Named);
    }
    let Some(path) = local_state else {
        return Err(Ended::configuration(
            "neither manifest nor code names a backend that outlives the run, and this installation keeps no state itself: \
             set spec.backendConfig.customConfiguration",
        ));
    };
    put(module, STATE_FILE, &local(path))?;
    Ok(Backend::Nobody)
}

fn put(module: &Path, file: &str, text: &str) -> Step<()> {
    let path = module.join(file);
    if path.symlink_metadata().is_ok() {
        return Err(Ended::configuration(format!(
            "the repository holds a file named {file} in the root module; Yuba writes the backend there: rename it"
        )));
    }
    fs::write(&path, text).map_err(|error| Ended::io("write", &path, &error))
}

fn local(path: &str) -> String {
    let quoted = |text: &str| {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{}\"", escaped.replace("${", "$${").replace("%{", "%%{"))
    };
    format!(
        "terraform {{\n  backend \"local\" {{\n    path          = {}\n    workspace_dir = {}\n  }}\n}}\n",
        quoted(path),
        quoted(&format!("{path}.d"))
    )
}

#[cfg(test)]
mod tests {
    use yuba_core::id::SourceName;
    use yuba_core::time::Span;

    use super::*;

    fn message(ended: Ended) -> String {
        match ended {
            Ended::Failed(failure) => failure.message,
            Ended::Interrupted => "interrupted".to_owned(),
        }
    }

    fn spec(backend: Option<&str>) -> StackSpec {
        let source = SourceName::new("infra", "code");
        StackSpec { backend: backend.map(str::to_owned), ..StackSpec::new(source, "a", Span::hours(1)) }
    }

    fn written(spec: &StackSpec, in_code: Option<&str>, local_state: Option<&str>) -> String {
        let module = tempfile::tempdir().unwrap();
        let in_code = in_code.and_then(|text| read_backend(text).unwrap());
        let backend = match write(module.path(), spec, in_code, local_state) {
            Ok(backend) => format!("{backend:?}"),
            Err(ended) => return message(ended),
        };
        let text = |file| fs::read_to_string(module.path().join(file)).unwrap_or_default().replace('\n', " ");
        format!("{backend} {}{}", text(MANIFEST_FILE), text(STATE_FILE))
    }

    const S3: &str = "backend \"s3\" {}";
    const BESIDE: &str = "backend \"local\" {\n  path = \"x\"\n}";

    #[test]
    fn the_manifest_wins_over_code_and_code_over_the_installation() {
        assert_eq!(written(&spec(None), Some(S3), Some("/s")), "Named ");
        assert_eq!(written(&spec(Some(S3)), Some(BESIDE), None), "Named terraform { backend \"s3\" {} } ");
        let version = spec(Some("required_version = \"> 1\""));
        assert_eq!(written(&version, Some(S3), None), "Named terraform { required_version = \"> 1\" } ");
    }

    #[test]
    fn a_state_that_would_vanish_with_the_run_lies_with_the_installation() {
        let own = "terraform {   backend \"local\" {     path          = \"/d/\\\"x\"     workspace_dir = \"/d/\\\"x.d\"   } } ";
        let path = Some("/d/\"x");
        assert_eq!(written(&spec(None), None, path), format!("Nobody {own}"));
        assert_eq!(written(&spec(None), Some(BESIDE), path), format!("Nobody {own}"));
        assert_eq!(
            written(&spec(Some("backend \"local\" {}")), None, path),
            format!("Nobody terraform {{ backend \"local\" {{}} }} {own}")
        );
        assert!(
            written(&spec(None), Some(BESIDE), None).starts_with("neither manifest nor code names a backend")
        );
    }

    #[test]
    fn a_file_of_the_repository_is_not_overwritten() {
        let module = tempfile::tempdir().unwrap();
        fs::write(module.path().join(STATE_FILE), "").unwrap();
        let error = write(module.path(), &spec(None), None, Some("/s")).unwrap_err();
        assert!(message(error).contains("holds a file named yuba_state_override.tf"));
    }
}
