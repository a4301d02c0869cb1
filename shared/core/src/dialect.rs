//! What differs between OpenTofu and Terraform, in one place.
//!
//! | | tofu | terraform |
//! | --- | --- | --- |
//! | binary | `tofu` | `terraform` |
//! | code files read besides `.tf` | `.tofu`, `.tofu.json` (1.8), which hide a `.tf` of the same base name | none |
//! | registry host of short provider sources | `registry.opentofu.org` | `registry.terraform.io` |
//! | `version -json` names its version | `terraform_version` | `terraform_version` |
//! | version in the first line of `plan -json` | `tofu` | `terraform` |
//! | `workspace select -or-create` | 1.6 | 1.4 |
//! | plan JSON has `applyable`, `complete` | no | 1.8 |
//! | variables in backend and module sources | 1.8: `init` must see them | no |
//! | plan file may be encrypted, and is then no zip | 1.7 | no |
//! | shared provider cache locks itself | 1.10 | no |
//!
//! What `init` must see lies in files that both read by themselves (`*.auto.tfvars`), as variables for anything else do.
//! The name in the first line of `plan -json` is read in [`crate::plan`], names in image tags in [`crate::manifest`].
//! Both take the same environment variables (`TF_…`), write the same diagnostics and the same `Lock Info:`. Sources:
//! the OpenTofu and Terraform CLI documentation, and "What's new" of OpenTofu 1.6 to 1.10.

use crate::spec::EngineTool;

/// The tools in the order in which they are looked for.
pub const TOOLS: [EngineTool; 2] = [EngineTool::Tofu, EngineTool::Terraform];

/// The name of a tool's binary.
pub fn binary(tool: EngineTool) -> &'static str {
    match tool {
        EngineTool::Tofu => "tofu",
        EngineTool::Terraform => "terraform",
    }
}

/// Whether the tool reads a file of a module as code, given the names of all files beside it. Of a `.tf` and a `.tofu` of
/// one name, OpenTofu reads the latter alone. <https://opentofu.org/docs/language/files/>
pub fn reads(tool: EngineTool, name: &str, is_beside: impl Fn(&str) -> bool) -> bool {
    let (stem, json) = match name.strip_suffix(".json") {
        Some(stem) => (stem, ".json"),
        None => (name, ""),
    };
    match (tool, stem.rsplit_once('.')) {
        (EngineTool::Tofu, Some((base, "tf"))) => !is_beside(&format!("{base}.tofu{json}")),
        (EngineTool::Tofu, Some((_, "tofu"))) | (EngineTool::Terraform, Some((_, "tf"))) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_reads_its_own_files() {
        let names =
            ["a.tf", "a.tofu", "b.tf.json", "b.tofu.json", "c.tf", "c.tofu.json", "tf", "d.json", "e.md"];
        let [tofu, terraform] = TOOLS.map(|tool| {
            let mut read = names.to_vec();
            read.retain(|name| reads(tool, name, |other| names.contains(&other)));
            read
        });
        assert_eq!(tofu, ["a.tofu", "b.tofu.json", "c.tf", "c.tofu.json"]);
        assert_eq!(terraform, ["a.tf", "b.tf.json", "c.tf"]);
    }
}
