//! Which engine a stack wants, and what it would get on this machine.

use yuba_core::dialect::binary;
use yuba_core::spec::{EnginePreference, EngineTool, PreferenceStrength};
use yuba_git::root_module::RootModule;
use yuba_runner::{EngineOnPath, choose_engine};

/// What was found out about a stack's engine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct EngineSeen {
    /// What it wants, each with who says so.
    pub(super) wanted: Vec<String>,
    /// What it would get.
    pub(super) found: Option<String>,
    /// Which of the two that is.
    pub(super) tool: Option<EngineTool>,
    /// What is wrong with that.
    pub(super) problems: Vec<String>,
}

/// Looks at what manifest and code ask for.
pub(super) fn look(
    engines: &[EngineOnPath],
    preference: &EnginePreference,
    module: Option<&RootModule>,
) -> EngineSeen {
    let mut seen = EngineSeen::default();
    seen.wanted.extend(of_manifest(preference));
    seen.wanted.extend(module.into_iter().flat_map(of_code));
    match choose_engine(engines, preference) {
        Err(why) => seen.problems.push(why),
        Ok(choice) => {
            seen.found = Some(choice.engine.to_string());
            seen.tool = Some(choice.engine.tool());
            for version in module.into_iter().flat_map(|module| &module.required_versions) {
                if choice.engine.fits(version) == Some(false) {
                    seen.problems
                        .push(format!("{} does not fulfil required_version \"{version}\"", choice.engine));
                }
            }
            let only_tofu = module.is_some_and(|module| module.has_tofu_files);
            if only_tofu && choice.engine.tool() == EngineTool::Terraform {
                seen.problems.push("it has .tofu files, which terraform does not read".to_owned());
            }
        }
    }
    seen
}

fn of_manifest(preference: &EnginePreference) -> Option<String> {
    let tool = preference.tool.map(binary);
    let parts: Vec<&str> = tool.into_iter().chain(preference.version.as_deref()).collect();
    let from = match preference.strength {
        PreferenceStrength::Demand => "engine",
        PreferenceStrength::Wish => "runner image",
    };
    (!parts.is_empty()).then(|| format!("{} ({from})", parts.join(" ")))
}

fn of_code(module: &RootModule) -> Vec<String> {
    let required = module.required_versions.iter().map(|version| format!("{version} (required_version)"));
    let tofu = module.opentofu_version.iter().map(|version| format!("tofu {version} (.opentofu-version)"));
    let terraform =
        module.terraform_version.iter().map(|version| format!("terraform {version} (.terraform-version)"));
    required.chain(tofu).chain(terraform).collect()
}
