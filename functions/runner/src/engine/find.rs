//! Which engine runs: the one that is asked for, else what the PATH holds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};
use yuba_core::dialect::{TOOLS, binary};
use yuba_core::id::FileDigest;
use yuba_core::spec::{EnginePreference, EngineTool, PreferenceStrength};

use super::constraint::Constraint;
use crate::ended::{Ended, Step};

/// An engine that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// Which of the two.
    pub(crate) tool: EngineTool,
    /// Its binary.
    pub(crate) path: PathBuf,
    /// Its version, where it had to be asked for.
    pub(crate) version: Option<String>,
}

/// An engine, and what people should know about the choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The engine.
    pub(crate) engine: Found,
    /// Why it is another than was asked for.
    pub(crate) notice: Option<String>,
}

/// Looks for engines on the PATH, `tofu` first, and takes the one that is asked for. `cache` holds versions that were
/// asked for before, so that a plan does not start the engine only to learn its version.
pub(crate) async fn find(
    ambient: &BTreeMap<String, String>,
    wanted: &EnginePreference,
    cache: &Path,
) -> Step<Choice> {
    let mut found = on_path(ambient);
    let constraint = wanted.version.as_deref().map(str::parse::<Constraint>).transpose();
    let constraint = constraint.map_err(|error| Ended::configuration(format!("engine version: {error}")))?;
    if constraint.is_some() {
        for engine in &mut found {
            engine.version = Some(version_of(engine, cache).await?);
        }
    }
    choose(&found, wanted, constraint.as_ref())
}

/// Takes the engine that is asked for among those whose versions are known.
pub(crate) fn choose_among(found: &[Found], wanted: &EnginePreference) -> Step<Choice> {
    let constraint = wanted.version.as_deref().map(str::parse::<Constraint>).transpose();
    let constraint = constraint.map_err(|error| Ended::configuration(format!("engine version: {error}")))?;
    choose(found, wanted, constraint.as_ref())
}

fn choose(found: &[Found], wanted: &EnginePreference, constraint: Option<&Constraint>) -> Step<Choice> {
    let fits = |engine: &&Found| {
        wanted.tool.is_none_or(|tool| tool == engine.tool)
            && constraint.is_none_or(|constraint| {
                engine.version.as_deref().is_some_and(|version| constraint.allows(version))
            })
    };
    if let Some(engine) = found.iter().find(fits) {
        return Ok(Choice { engine: engine.clone(), notice: None });
    }
    let there: Vec<String> = found.iter().map(describe).collect();
    let there = if there.is_empty() { "neither tofu nor terraform".to_owned() } else { there.join(" and ") };
    let asked = asked_for(wanted);
    let same_tool = found.iter().find(|engine| wanted.tool == Some(engine.tool));
    match same_tool.or(found.first()) {
        Some(engine) if wanted.strength == PreferenceStrength::Wish => {
            let notice =
                format!("{asked} is asked for; {} is used (the PATH holds {there})", describe(engine));
            Ok(Choice { engine: engine.clone(), notice: Some(notice) })
        }
        _ => {
            Err(Ended::configuration(format!("no engine fits: {asked} is asked for, the PATH holds {there}")))
        }
    }
}

fn asked_for(wanted: &EnginePreference) -> String {
    let tool = wanted.tool.map_or("tofu or terraform", binary);
    match &wanted.version {
        Some(version) => format!("{tool} {version}"),
        None => tool.to_owned(),
    }
}

fn describe(engine: &Found) -> String {
    match &engine.version {
        Some(version) => format!("{} {version}", binary(engine.tool)),
        None => binary(engine.tool).to_owned(),
    }
}

/// The engines on the PATH, `tofu` first.
pub(crate) fn on_path(ambient: &BTreeMap<String, String>) -> Vec<Found> {
    let path = ambient.get("PATH").map(String::as_str).unwrap_or_default();
    let is_program = |file: &PathBuf| {
        use std::os::unix::fs::PermissionsExt as _;
        fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    let first = |tool: EngineTool| {
        let path = std::env::split_paths(path).map(|folder| folder.join(binary(tool))).find(is_program)?;
        Some(Found { tool, path, version: None })
    };
    TOOLS.into_iter().filter_map(first).collect()
}

/// The engine's version: from the cache where the same binary was asked before.
pub(crate) async fn version_of(engine: &Found, cache: &Path) -> Step<String> {
    let unreadable = |error| Ended::io("look at", &engine.path, &error);
    let meta = fs::metadata(&engine.path).map_err(unreadable)?;
    let changed = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    let name = format!("{} {} {}", engine.path.display(), meta.len(), changed.as_nanos());
    let file = cache.join(format!("engine-{}.json", FileDigest::of(name.as_bytes()).short()));
    if let Some(version) = fs::read(&file).ok().and_then(|text| version_in(&text)) {
        return Ok(version);
    }
    let output = super::command::capture(&engine.path, &["version", "-json"]).await?;
    let version = version_in(&output)
        .ok_or_else(|| Ended::configuration(format!("{} does not say its version", engine.path.display())))?;
    // A cache that cannot be written only costs time.
    let _ = fs::write(&file, json!({ "terraform_version": version }).to_string());
    Ok(version)
}

fn version_in(text: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(text).ok()?;
    value.get("terraform_version")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn engine(tool: EngineTool, version: &str) -> Found {
        Found { tool, path: binary(tool).into(), version: Some(version.to_owned()) }
    }

    fn wanted(tool: EngineTool, version: &str, strength: PreferenceStrength) -> EnginePreference {
        EnginePreference { tool: Some(tool), version: Some(version.to_owned()), strength }
    }

    fn choice(found: &[Found], wanted: &EnginePreference) -> String {
        let constraint: Option<Constraint> = wanted.version.as_ref().map(|version| version.parse().unwrap());
        match choose(found, wanted, constraint.as_ref()) {
            Ok(choice) => format!("{} ({})", describe(&choice.engine), choice.notice.unwrap_or_default()),
            Err(Ended::Failed(failure)) => failure.message,
            Err(Ended::Interrupted) => "interrupted".to_owned(),
        }
    }

    #[test]
    fn a_wish_that_cannot_be_met_is_noticed_and_a_demand_refused() {
        let both = || vec![engine(EngineTool::Tofu, "1.10.5"), engine(EngineTool::Terraform, "1.11.4")];
        let wish = wanted(EngineTool::Terraform, "1.5.7", PreferenceStrength::Wish);
        assert_eq!(
            choice(&both(), &wish),
            "terraform 1.11.4 (terraform 1.5.7 is asked for; terraform 1.11.4 is used (the PATH holds tofu 1.10.5 and \
             terraform 1.11.4))"
        );
        let demand = wanted(EngineTool::Tofu, "~> 1.9.0", PreferenceStrength::Demand);
        assert_eq!(
            choice(&both(), &demand),
            "no engine fits: tofu ~> 1.9.0 is asked for, the PATH holds tofu 1.10.5 and terraform 1.11.4"
        );
        let met = wanted(EngineTool::Terraform, ">= 1.6, < 2", PreferenceStrength::Demand);
        assert_eq!(choice(&both(), &met), "terraform 1.11.4 ()");
        assert_eq!(
            choice(&[], &EnginePreference::default()),
            "no engine fits: tofu or terraform is asked for, the PATH holds neither tofu nor terraform"
        );
    }
}
