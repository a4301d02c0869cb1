//! Drift of a plain directory, without a server: `init`, `plan`, `show` in a private copy of it.
//!
//! The state is read where the code says it lies; it is neither locked nor written.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::Path;

use yuba_core::drift::DriftReport;
use yuba_core::plan::stream::{EngineEvent, parse_line};
use yuba_core::plan::{PlanRead, read};
use yuba_core::run::Failure;
use yuba_core::spec::EnginePreference;

use crate::classify;
use crate::ended::{Ended, Step};
use crate::engine::command::PATIENCE;
use crate::engine::descendants::Processes;
use crate::engine::{Place, find, text};
use crate::interrupt::Interrupt;
use crate::standalone::EngineOnPath;
use crate::user::EngineUser;

/// What of a person's environment an engine does not get: it would be another command than ours.
const NOT_INHERITED: [&str; 5] = ["TF_CLI_ARGS", "TF_DATA_DIR", "TF_INPUT", "TF_LOG", "YUBA_"];

/// A root module in a private copy.
#[derive(Debug)]
pub struct LocalCheck<'a> {
    /// The root module within the copy.
    pub module: &'a Path,
    /// A directory for the engine's own files: `TF_DATA_DIR` is `data` in it.
    pub work: &'a Path,
    /// The person's environment.
    pub environment: &'a BTreeMap<String, String>,
}

/// What a check found.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalDrift {
    /// The engine that planned.
    pub engine: EngineOnPath,
    /// What was changed outside, and what the code wants.
    pub report: DriftReport,
    /// Whether the state held nothing: then it may be another state that is meant.
    pub state_was_empty: bool,
}

/// Why a directory could not be checked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocalCheckError {
    /// A step failed.
    #[error("{}", shown(.0))]
    Failed(Box<Failure>),
    /// Somebody interrupted it.
    #[error("interrupted")]
    Interrupted,
}

fn shown(failure: &Failure) -> String {
    match failure.detail.as_str() {
        "" => failure.message.clone(),
        detail => format!("{}\n{detail}", failure.message),
    }
}

impl From<Ended> for LocalCheckError {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Failed(failure) => Self::Failed(failure),
            Ended::Interrupted => Self::Interrupted,
        }
    }
}

/// Plans the module, changes nothing outside the copy, and says how reality and code differ.
pub async fn check_local_drift(check: &LocalCheck<'_>) -> Result<LocalDrift, LocalCheckError> {
    let interrupt = Interrupt::new();
    let watching = tokio::spawn(interrupt.clone().watch_signals());
    let outcome = run(check, interrupt).await;
    watching.abort();
    Ok(outcome?)
}

async fn run(check: &LocalCheck<'_>, interrupt: Interrupt) -> Step<LocalDrift> {
    let choice = find::find(check.environment, &EnginePreference::default(), check.work).await?;
    let mut found = choice.engine;
    let place = Place {
        program: found.path.clone(),
        directory: check.module.to_owned(),
        environment: environment(check),
        interrupt,
        processes: Processes::Shared,
        user: EngineUser::Ours,
        patience: PATIENCE,
    };
    init(&place).await?;
    let file = check.work.join("drift.tfplan");
    found.version = plan(&place, &file).await?.or(found.version);
    let plan = show(&place, &file).await?;
    if plan.summary.errored {
        return Err(Ended::configuration("the plan is not complete"));
    }
    Ok(LocalDrift {
        engine: EngineOnPath::new(found),
        report: DriftReport::of(&plan.summary),
        state_was_empty: plan.state_was_empty,
    })
}

fn environment(check: &LocalCheck<'_>) -> BTreeMap<String, String> {
    let kept = |name: &str| !NOT_INHERITED.iter().any(|refused| name.starts_with(refused));
    let inherited = check.environment.iter().filter(|(name, _)| kept(name));
    let mut environment: BTreeMap<String, String> =
        inherited.map(|(name, value)| (name.clone(), value.clone())).collect();
    let data = check.work.join("data").to_string_lossy().into_owned();
    for (name, value) in [
        ("TF_DATA_DIR", data.as_str()),
        ("TF_IN_AUTOMATION", "1"),
        ("TF_INPUT", "0"),
        ("CHECKPOINT_DISABLE", "1"),
    ] {
        environment.insert(name.to_owned(), value.to_owned());
    }
    environment
}

/// With a lock file, exactly what it pins is used.
async fn init(place: &Place) -> Step<()> {
    let mut arguments = vec!["init", "-input=false", "-no-color"];
    if place.directory.join(".terraform.lock.hcl").exists() {
        arguments.push("-lockfile=readonly");
    }
    let exit = place.run(&arguments, |_| ()).await?;
    classify::check(&exit, &text::read_text(&exit.stderr), "init")
}

/// Plans into a file; the engine's version, as it says.
async fn plan(place: &Place, file: &Path) -> Step<Option<String>> {
    let mut arguments: Vec<OsString> =
        ["plan", "-input=false", "-no-color", "-json", "-detailed-exitcode", "-lock=false"]
            .map(OsString::from)
            .into();
    let mut out = OsString::from("-out=");
    out.push(file);
    arguments.push(out);
    let (mut diagnostics, mut version) = (Vec::new(), None);
    let line = |line: &str| match parse_line(line).event {
        EngineEvent::Version(said) => version = Some(said),
        EngineEvent::Diagnosed(diagnostic) => diagnostics.push(diagnostic),
        _ => {}
    };
    let exit = place.run(&arguments, line).await?;
    if !matches!(exit.code, Some(0 | 2)) {
        diagnostics.extend(text::read_text(&exit.stderr));
        return Err(classify::failure(&diagnostics, &exit, "plan"));
    }
    Ok(version)
}

async fn show(place: &Place, file: &Path) -> Step<PlanRead> {
    let arguments = ["show".as_ref(), "-json".as_ref(), "-no-color".as_ref(), file.as_os_str()];
    let mut running = place.start(&arguments)?;
    let stdout = running.take_stdout()?;
    let reading = tokio::task::spawn_blocking(move || {
        let plan = read(&stdout);
        // The engine must not wait for a reader that gave up.
        let _ = io::copy(&mut &stdout, &mut io::sink());
        plan
    });
    let exit = running.wait().await?;
    classify::check(&exit, &text::read_text(&exit.stderr), "show -json")?;
    let plan = reading.await.map_err(|_| Ended::transient("the plan could not be read"))?;
    plan.map_err(|error| Ended::configuration(format!("the plan cannot be read: {error}")))
}
