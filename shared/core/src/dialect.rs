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
//! Both take the same environment variables (`TF_…`), write the same diagnostics and the same `Lock Info:`. Sources:
//! the OpenTofu and Terraform CLI documentation, and "What's new" of OpenTofu 1.6 to 1.10.

use std::path::Path;

use yuba_core::spec::EngineTool;

/// The tools in the order in which they are looked for.
pub(crate) const TOOLS: [EngineTool; 2] = [EngineTool::Tofu, EngineTool::Terraform];

/// The name of a tool's binary.
pub(crate) fn binary(tool: EngineTool) -> &'static str {
    match tool {
        EngineTool::Tofu => "tofu",
        EngineTool::Terraform => "terraform",
    }
}

/// Whether a file name is code that the tool reads, as HCL.
pub(crate) fn is_code(tool: EngineTool, name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    extension == Some("tf") || (tool == EngineTool::Tofu && extension == Some("tofu"))
}

/// Whether a file name is code that the tool reads, as JSON.
pub(crate) fn is_json_code(tool: EngineTool, name: &str) -> bool {
    name.ends_with(".tf.json") || (tool == EngineTool::Tofu && name.ends_with(".tofu.json"))
}
