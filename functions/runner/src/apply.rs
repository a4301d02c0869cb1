//! The apply phase: the plan's work directory, the very plan file, `apply`, then what came of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use yuba_core::attempt::AttemptReport;
use yuba_core::job::{PlanToApply, attempt_prefix, object};
use yuba_core::plan::summary::PlanSummary;
use yuba_core::run::FailureClass;

use crate::attempt::{Attempt, Engine};
use crate::classify;
use crate::ended::{Ended, Step};
use crate::planfile;
use crate::prepare;
use crate::state;
use crate::workspace::Workspace;

/// How long the engine waits for the state's lock before it gives up.
const LOCK_TIMEOUT: &str = "-lock-timeout=30s";

/// The name under which engines leave a state that they could not save.
const ERRORED: &str = "errored.tfstate";

/// Applies the plan and says what to report.
pub(crate) async fn apply(attempt: &Attempt, workspace: &mut Workspace) -> Step<AttemptReport> {
    let plan =
        attempt.job.plan.as_ref().ok_or_else(|| Ended::configuration("the job names no plan to apply"))?;
    let file = restore(attempt, workspace, plan)?;
    let (engine, _) = prepare::for_apply(attempt, workspace)?;
    prepare::reinit(&engine, workspace).await?;
    let outcome = run(&engine, &file).await;
    keep_errored_state(attempt, workspace)?;
    outcome?;
    state::store(&engine).await
}

/// Lays the plan's work directory out and checks the plan file.
fn restore(attempt: &Attempt, workspace: &Workspace, plan: &PlanToApply) -> Step<PathBuf> {
    let prefix = attempt_prefix(attempt.job.stack, plan.attempt);
    let open = |name: &str| {
        let key = format!("{prefix}{name}");
        attempt.objects.open(&key)?.ok_or_else(|| {
            Ended::failed(FailureClass::StalePlan, format!("{key} is gone: a new plan is needed"))
        })
    };
    workspace.restore_overlay(open(object::WORKDIR)?)?;
    let file = workspace.beside(object::PLAN);
    let found = planfile::copy(open(object::PLAN)?, &file)?;
    if found != plan.file {
        let message = format!(
            "the stored plan file is not the one that was approved: it is {found}, not {}",
            plan.file
        );
        return Err(Ended::failed(FailureClass::StalePlan, message));
    }
    workspace.lend(&file)?;
    if let Ok(summary) = serde_json::from_reader::<_, PlanSummary>(open(object::SUMMARY)?) {
        attempt.progress.total(summary.counts.added() + summary.counts.update + summary.counts.destroyed());
    }
    Ok(file)
}

async fn run(engine: &Engine<'_>, plan: &Path) -> Step<()> {
    let mut arguments: Vec<OsString> =
        ["apply", "-input=false", "-no-color", "-json", LOCK_TIMEOUT].map(OsString::from).into();
    arguments.push(plan.into());
    let said = engine.json("apply", &arguments).await?;
    engine.not_interrupted(&said.exit)?;
    classify::check(&said.exit, &said.diagnostics, "apply")
}

/// Stores a state that the engine could not save, however the apply ended.
fn keep_errored_state(attempt: &Attempt, workspace: &Workspace) -> Step<()> {
    let Some(left) = workspace.open(&workspace.module().join(ERRORED))? else { return Ok(()) };
    let copy = workspace.beside(ERRORED);
    planfile::copy(left, &copy)?;
    attempt.objects.put_file(&attempt.object(object::ERRORED_STATE), &copy)?;
    attempt.log.line("The state could not be saved in its backend; it is stored as errored.tfstate.");
    Ok(())
}
