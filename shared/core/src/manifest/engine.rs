//! The engine that the tag of a runner image names.

use super::format;
use crate::spec::{EnginePreference, EngineTool, PreferenceStrength};

/// Reads `…:v0.15.0-tofu1.6.2` as OpenTofu 1.6.2, and `…:tf-1.5.7` or `…-tf1.5.7` as Terraform 1.5.7.
pub(super) fn of_image(image: &str) -> Option<EnginePreference> {
    let without_digest = image.split('@').next()?;
    let (_, tag) = without_digest.rsplit('/').next()?.split_once(':')?;
    // The longer name first: `tofu` starts with neither, but a tag may hold both.
    let named =
        [("tofu", EngineTool::Tofu), ("terraform", EngineTool::Terraform), ("tf", EngineTool::Terraform)];
    let (tool, version) = named.iter().find_map(|(name, tool)| Some((*tool, version_after(tag, name)?)))?;
    Some(EnginePreference { tool: Some(tool), version: Some(version), strength: PreferenceStrength::Wish })
}

fn version_after(tag: &str, name: &str) -> Option<String> {
    let (before, after) = tag.rsplit_once(name)?;
    let version = after.strip_prefix('-').unwrap_or(after);
    let stands_alone = before.is_empty() || before.ends_with('-');
    (stands_alone && format::is_version(version) && version.contains('.')).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_names_the_engine() {
        let read =
            |image: &str| of_image(image).map(|engine| (engine.tool.unwrap(), engine.version.unwrap()));
        let tofu = |version: &str| Some((EngineTool::Tofu, version.to_owned()));
        let terraform = |version: &str| Some((EngineTool::Terraform, version.to_owned()));
        assert_eq!(read("ghcr.io/flux-iac/tf-runner:v0.15.0-tofu1.6.2"), tofu("1.6.2"));
        assert_eq!(read("localhost:5000/tf-runner:v0.16.0-tofu-1.10.0-rc1@sha256:00"), tofu("1.10.0-rc1"));
        assert_eq!(read("ghcr.io/weaveworks/tf-runner:tf-1.5.7"), terraform("1.5.7"));
        assert_eq!(read("ghcr.io/weaveworks/tf-runner:v0.15.0-tf1.5.7"), terraform("1.5.7"));
        assert_eq!(read("ghcr.io/flux-iac/tf-runner:v0.15.0"), None);
        assert_eq!(read("ghcr.io/flux-iac/tf-runner-tf1.5.7"), None);
        assert_eq!(read("localhost:5000/tf-1.5.7"), None);
    }
}
