//! What the root module's code says, as far as the runner must know: which backend it names, and which provider
//! versions its lock file pins.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hcl_edit::expr::Expression;
use hcl_edit::structure::Body;
use yuba_core::dialect::reads;
use yuba_core::manifest::backend_in_code;
use yuba_core::spec::EngineTool;
use yuba_core::state_address::BackendBlock;

/// The backend that the code names (`cloud` is one), as the engine reads it.
pub(crate) fn backend(module: &Path, tool: EngineTool) -> Option<BackendBlock> {
    let files = fs::read_dir(module).into_iter().flatten().flatten();
    let code: Vec<(String, String)> = files
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| reads(tool, name, |_| false))
        .map(|name| {
            // What cannot be read is the engine's to report.
            let text = fs::read_to_string(module.join(&name)).unwrap_or_default();
            (name, text)
        })
        .collect();
    backend_in_code(tool, code.iter().map(|(name, text)| (name.as_str(), text.as_str())))
}

/// A provider as the lock file pins it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LockedProvider {
    /// The version.
    pub(crate) version: String,
    /// The checksums, as `h1:…` and `zh:…`.
    pub(crate) hashes: Vec<String>,
}

/// The lock file's name.
pub(crate) const LOCK_FILE: &str = ".terraform.lock.hcl";

/// The providers of a lock file's text by source address.
pub(crate) fn locked_providers(text: &str) -> BTreeMap<String, LockedProvider> {
    let Ok(body) = text.parse::<Body>() else { return BTreeMap::new() };
    body.get_blocks("provider")
        .filter_map(|block| {
            let address = block.labels.first()?.as_str().to_owned();
            let version = block.body.get_attribute("version")?.value.as_str()?.to_owned();
            let hashes = block.body.get_attribute("hashes").map(|attribute| strings(&attribute.value));
            Some((address, LockedProvider { version, hashes: hashes.unwrap_or_default() }))
        })
        .collect()
}

fn strings(value: &Expression) -> Vec<String> {
    let items = value.as_array().into_iter().flat_map(|array| array.iter());
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_the_engine_reads_name_a_backend() {
        let module = tempfile::tempdir().unwrap();
        let text = "terraform {\n  backend \"s3\" {}\n}\n";
        for (file, tool, found) in [
            ("a.tf", EngineTool::Terraform, true),
            ("a.tofu", EngineTool::Terraform, false),
            ("a.tofu", EngineTool::Tofu, true),
            ("a.txt", EngineTool::Tofu, false),
        ] {
            fs::write(module.path().join(file), text).unwrap();
            assert_eq!(backend(module.path(), tool).is_some(), found, "{file}");
            fs::remove_file(module.path().join(file)).unwrap();
        }
    }

    #[test]
    fn a_file_that_another_hides_names_no_backend() {
        let module = tempfile::tempdir().unwrap();
        fs::write(module.path().join("main.tf"), "terraform {\n  backend \"s3\" {}\n}\n").unwrap();
        fs::write(module.path().join("main.tofu"), "").unwrap();
        assert!(backend(module.path(), EngineTool::Terraform).is_some());
        assert_eq!(backend(module.path(), EngineTool::Tofu), None);
    }

    #[test]
    fn the_lock_file_names_versions_and_checksums() {
        let text = "provider \"registry.terraform.io/a/b\" {\n  version = \"1.2.3\"\n  hashes = [\n    \"h1:x\",\n    \
                    \"zh:y\",\n  ]\n}\n";
        let locked = locked_providers(text);
        assert_eq!(locked["registry.terraform.io/a/b"].hashes, ["h1:x", "zh:y"]);
        assert_eq!(locked["registry.terraform.io/a/b"].version, "1.2.3");
    }
}
