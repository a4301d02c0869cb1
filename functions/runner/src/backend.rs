//! Where the state lies: an override file with the manifest's backend, or, where neither manifest nor code names one,
//! with the installation's own state file.

use std::fs;
use std::path::Path;

use crate::ended::{Ended, Step};

/// The override file. Files of this kind are merged in the order of their names, the last one wins.
const FILE: &str = "yuba_override.tf";

/// Who names the backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    /// The manifest.
    Manifest,
    /// The code.
    Code,
    /// Nobody: the state lies with the installation.
    Nobody,
}

/// Writes the override file into the root module, where one is needed.
pub(crate) fn write(
    module: &Path,
    manifest: Option<&str>,
    in_code: InCode,
    local_state: Option<&str>,
) -> Step<Backend> {
    match (manifest, in_code, local_state) {
        (Some(body), _, _) => {
            put(module, &format!("terraform {{\n{}\n}}\n", body.trim_end()))?;
            Ok(Backend::Manifest)
        }
        (None, InCode::Yes, _) => Ok(Backend::Code),
        (None, InCode::No, Some(path)) => {
            put(module, &local(path))?;
            Ok(Backend::Nobody)
        }
        (None, InCode::No, None) => Err(Ended::configuration(
            "neither manifest nor code names a backend, and this installation keeps no state itself: \
             set spec.backendConfig.customConfiguration",
        )),
    }
}

/// Whether the code names a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InCode {
    /// It does.
    Yes,
    /// It does not.
    No,
}

fn put(module: &Path, text: &str) -> Step<()> {
    let path = module.join(FILE);
    if path.symlink_metadata().is_ok() {
        return Err(Ended::configuration(format!(
            "the repository holds a file named {FILE} in the root module; Yuba writes the backend there: rename it"
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
    use super::*;

    fn message(ended: Ended) -> String {
        match ended {
            Ended::Failed(failure) => failure.message,
            Ended::Interrupted => "interrupted".to_owned(),
        }
    }

    #[test]
    fn the_manifest_wins_over_code_and_code_over_the_installation() {
        let module = tempfile::tempdir().unwrap();
        let module = module.path();
        assert_eq!(write(module, None, InCode::Yes, Some("/s")).unwrap(), Backend::Code);
        assert!(!module.join(FILE).exists());
        assert_eq!(write(module, Some("backend \"s3\" {}"), InCode::Yes, None).unwrap(), Backend::Manifest);
        assert_eq!(fs::read_to_string(module.join(FILE)).unwrap(), "terraform {\nbackend \"s3\" {}\n}\n");
        let error = write(module, None, InCode::No, Some("/s")).unwrap_err();
        assert!(message(error).contains("holds a file named yuba_override.tf"));
    }

    #[test]
    fn a_state_nobody_names_lies_with_the_installation() {
        let module = tempfile::tempdir().unwrap();
        assert_eq!(write(module.path(), None, InCode::No, Some("/d/\"x")).unwrap(), Backend::Nobody);
        let text = fs::read_to_string(module.path().join(FILE)).unwrap();
        assert!(text.contains("path          = \"/d/\\\"x\"\n    workspace_dir = \"/d/\\\"x.d\""), "{text}");
    }
}
