//! The plan phase: `init`, `plan`, `show`, store.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::mem;

use yuba_core::attempt::AttemptReport;
use yuba_core::drift::DriftReport;
use yuba_core::id::{ContentDigest, FileDigest};
use yuba_core::job::{BeforePlan, attempt_prefix, object, state_import_object};
use yuba_core::plan::digest::{DigestContext, content_digest};
use yuba_core::plan::render::{self, View};
use yuba_core::plan::summary::{PlanReport, PlanSummary};
use yuba_core::run::{FailureClass, RunKind};

use crate::attempt::{Attempt, Engine, Said};
use crate::backend::Backend;
use crate::classify;
use crate::ended::{Ended, Step};
use crate::hide;
use crate::inputs::Inputs;
use crate::objects::Body;
use crate::planfile;
use crate::prepare::{self, Prepared};
use crate::show::{Shown, show};
use crate::state;
use crate::workspace::Workspace;

/// How long the engine waits for the state's lock before it gives up.
const LOCK_TIMEOUT: &str = "-lock-timeout=5s";

/// Plans, stores the plan, and says what to report.
pub(crate) async fn plan(attempt: &Attempt, workspace: &mut Workspace) -> Step<AttemptReport> {
    let (engine, prepared) = prepare::for_plan(attempt, workspace).await?;
    prepare::init(&engine, workspace).await?;
    mend_backend(&engine, workspace).await?;
    let made = make(&engine, workspace).await?;
    store(&engine, workspace, prepared, made).await
}

/// Does to the backend what somebody asked for before the plan.
async fn mend_backend(engine: &Engine<'_>, workspace: &Workspace) -> Step<()> {
    let job = &engine.attempt.job;
    for first in &job.backend_first {
        match first {
            BeforePlan::Unlock(lock) => engine.text("unlock", &["force-unlock", "-force", lock]).await?,
            BeforePlan::PushState(from) => {
                let prefix = attempt_prefix(job.stack, *from);
                push(engine, workspace, &format!("{prefix}{}", object::ERRORED_STATE)).await?;
            }
            BeforePlan::ImportState => push(engine, workspace, &state_import_object(job.stack)).await?,
        }
    }
    Ok(())
}

/// Pushes a stored state into the backend. The engine refuses one that is older, or another's.
async fn push(engine: &Engine<'_>, workspace: &Workspace, key: &str) -> Step<()> {
    let stored = engine.attempt.objects.open(key)?;
    let stored =
        stored.ok_or_else(|| Ended::failed(FailureClass::Refused, format!("there is no {key} to push")))?;
    let file = workspace.beside("pushed.tfstate");
    planfile::copy(stored, &file)?;
    workspace.lend(&file)?;
    engine.text("push", &["state".as_ref(), "push".as_ref(), file.as_os_str()]).await
}

/// A plan that was made.
struct Made {
    version: String,
    file: FileDigest,
}

async fn make(engine: &Engine<'_>, workspace: &Workspace) -> Step<Made> {
    let written = workspace.written_plan();
    let said = engine.json("plan", &arguments(engine.attempt, written.as_os_str())).await?;
    engine.not_interrupted(&said.exit)?;
    let Said { exit, diagnostics, version } = said;
    if !matches!(exit.code, Some(0 | 2)) {
        return Err(classify::failure(&diagnostics, &exit, "plan"));
    }
    let version = version.ok_or_else(|| Ended::transient("the engine did not say its version"))?;
    let from = workspace.open(&written)?.ok_or_else(|| Ended::transient("the engine wrote no plan file"))?;
    let file = planfile::copy(from, &workspace.beside(object::PLAN))?;
    fs::remove_file(&written).map_err(|error| Ended::io("remove", &written, &error))?;
    Ok(Made { version, file })
}

fn arguments(attempt: &Attempt, out: &OsStr) -> Vec<OsString> {
    let mut out_argument = OsString::from("-out=");
    out_argument.push(out);
    let mut arguments: Vec<OsString> =
        ["plan", "-input=false", "-no-color", "-json", "-detailed-exitcode"].map(OsString::from).into();
    arguments.push(out_argument);
    arguments.push(if attempt.job.kind == RunKind::Drift { "-lock=false" } else { LOCK_TIMEOUT }.into());
    if attempt.job.kind == RunKind::Destroy {
        arguments.push("-destroy".into());
    }
    arguments
}

async fn store(
    engine: &Engine<'_>,
    workspace: &Workspace,
    mut prepared: Prepared,
    made: Made,
) -> Step<AttemptReport> {
    let attempt = engine.attempt;
    attempt.progress.step("show");
    let (copy, redacted) = (workspace.beside(object::PLAN), workspace.beside(object::PLAN_JSON));
    workspace.lend(&copy)?;
    let mut shown = show(&engine.place, &copy, &redacted, attempt.log.masker()).await?;
    attempt.log.learn(mem::take(&mut shown.secrets))?;
    if shown.plan.summary.errored {
        return Err(Ended::transient("the plan is not complete"));
    }
    let locked = workspace.locked_providers()?;
    for (address, version) in &mut shown.plan.summary.providers {
        *version = locked.get(address).map(|provider| provider.version.clone());
    }
    let lineage = planfile::lineage(&copy).unwrap_or_else(|| {
        let notice = "the plan file does not show the state's lineage: an approval does not cover it";
        prepared.notices.push(notice.to_owned());
        String::new()
    });
    prepare::note_engine(engine, workspace, &made.version)?;
    let inputs = Inputs {
        job: &attempt.job,
        values: &attempt.values,
        workspace,
        files: &prepared.files,
        tool: engine.found.tool,
        version: &made.version,
        digest_key: &attempt.digest_key,
    }
    .digest()?;
    let providers = &shown.plan.summary.providers;
    let of_what = DigestContext { inputs: &inputs, providers, lineage: &lineage };
    let content = content_digest(&shown.plan.changes, &of_what);
    let report = report(engine, &shown, &prepared, (made, content));
    hide::summary(&mut shown.plan.summary, &attempt.log.masker());
    let summary =
        serde_json::to_vec(&shown.plan.summary).map_err(|error| Ended::transient(error.to_string()))?;
    let text = attempt.log.mask(&render::plan(&shown.plan.summary, &View::default()));
    let stored = [
        (object::PLAN, Body::File(&copy)),
        (object::WORKDIR, Body::File(&workspace.pack_overlay()?)),
        (object::PLAN_JSON, Body::File(&redacted)),
        (object::SUMMARY, Body::Bytes(&summary)),
        (object::PLAN_TEXT, Body::Bytes(text.as_bytes())),
    ];
    attempt.objects.put_all(&stored.map(|(name, body)| (attempt.object(name), body)))?;
    if attempt.job.kind == RunKind::Tracked && !report.has_changes {
        // No apply follows that would keep what the state holds.
        state::keep_as_it_is(engine).await?;
    }
    Ok(AttemptReport::Planned(report))
}

fn report(
    engine: &Engine<'_>,
    shown: &Shown,
    prepared: &Prepared,
    (made, content): (Made, ContentDigest),
) -> PlanReport {
    let attempt = engine.attempt;
    let summary = &shown.plan.summary;
    PlanReport {
        plan_id: attempt.job.revision.plan_id(),
        content,
        file: made.file,
        counts: summary.counts,
        has_changes: summary.has_changes,
        applyable: summary.applyable,
        state_was_empty: shown.plan.state_was_empty,
        backend_named: prepared.backend != Backend::Nobody,
        engine: engine.found.tool,
        engine_version: made.version,
        notices: prepared.notices.clone(),
        drifted: !summary.drift.is_empty(),
        remediation_refused: remediation_refused(attempt, summary),
    }
}

/// Why Yuba may not put the drift right by itself.
fn remediation_refused(attempt: &Attempt, summary: &PlanSummary) -> Option<String> {
    let obstacles = match attempt.job.kind {
        RunKind::Drift => DriftReport::of(summary).remediable.err()?,
        RunKind::Tracked | RunKind::Preview | RunKind::Destroy => return None,
    };
    let obstacles: Vec<String> = obstacles.iter().map(ToString::to_string).collect();
    Some(obstacles.join("; "))
}
