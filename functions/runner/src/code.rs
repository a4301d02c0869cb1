//! What the root module's code says, as far as the runner must know: whether it names a backend, and which provider
//! versions its lock file pins.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use hcl_edit::expr::Expression;
use hcl_edit::structure::Body;
use serde_json::Value;
use yuba_core::spec::EngineTool;

use crate::engine::dialect::{is_code, is_json_code};

/// Whether the code names a backend or HCP Terraform (`cloud`).
pub(crate) fn names_backend(module: &Path, tool: EngineTool) -> bool {
    let files = fs::read_dir(module).into_iter().flatten().flatten();
    files.filter_map(|entry| entry.file_name().into_string().ok()).any(|name| {
        let text = || fs::read_to_string(module.join(&name)).unwrap_or_default();
        (is_code(tool, &name) && hcl_names_backend(&text()))
            || (is_json_code(tool, &name) && json_names_backend(&text()))
    })
}

fn hcl_names_backend(text: &str) -> bool {
    if !text.contains("backend") && !text.contains("cloud") {
        return false;
    }
    // Code that does not parse is the engine's to report.
    let Ok(body) = text.parse::<Body>() else { return false };
    body.get_blocks("terraform").any(|block| {
        block.body.get_blocks("backend").next().is_some() || block.body.get_blocks("cloud").next().is_some()
    })
}

fn json_names_backend(text: &str) -> bool {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return false };
    let blocks = match value.get("terraform") {
        Some(Value::Array(blocks)) => blocks.clone(),
        Some(block) => vec![block.clone()],
        None => Vec::new(),
    };
    blocks.iter().any(|block| block.get("backend").is_some() || block.get("cloud").is_some())
}

/// A provider as the lock file pins it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LockedProvider {
    /// The version.
    pub(crate) version: String,
    /// The checksums, as `h1:…` and `zh:…`.
    pub(crate) hashes: Vec<String>,
}

/// The providers of the lock file by source address; none where there is no lock file.
pub(crate) fn locked_providers(module: &Path) -> BTreeMap<String, LockedProvider> {
    let text = fs::read_to_string(module.join(".terraform.lock.hcl")).unwrap_or_default();
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
    fn a_backend_is_found_where_the_engine_finds_one() {
        let module = tempfile::tempdir().unwrap();
        let names = |file: &str, text: &str| {
            fs::write(module.path().join(file), text).unwrap();
            let found = names_backend(module.path(), EngineTool::Terraform);
            fs::remove_file(module.path().join(file)).unwrap();
            found
        };
        assert!(names("a.tf", "terraform {\n  backend \"s3\" {}\n}\n"));
        assert!(names("a.tf", "terraform {\n  cloud {\n  }\n}\n"));
        assert!(names("a.tf.json", r#"{"terraform":{"backend":{"s3":{}}}}"#));
        assert!(!names("a.tf", "# backend \"s3\" {}\nlocals { cloud = \"x\" }\n"));
        assert!(!names("a.tofu", "terraform {\n  backend \"s3\" {}\n}\n"));
        assert!(!names("a.txt", "terraform {\n  backend \"s3\" {}\n}\n"));
    }

    #[test]
    fn the_lock_file_names_versions_and_checksums() {
        let module = tempfile::tempdir().unwrap();
        let text = "provider \"registry.terraform.io/a/b\" {\n  version = \"1.2.3\"\n  hashes = [\n    \"h1:x\",\n    \
                    \"zh:y\",\n  ]\n}\n";
        fs::write(module.path().join(".terraform.lock.hcl"), text).unwrap();
        let locked = locked_providers(module.path());
        assert_eq!(locked["registry.terraform.io/a/b"].hashes, ["h1:x", "zh:y"]);
        assert_eq!(locked["registry.terraform.io/a/b"].version, "1.2.3");
    }
}
