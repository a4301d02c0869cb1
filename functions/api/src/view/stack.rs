//! Stacks.

use yuba_core::effect::PendingEffect;
use yuba_core::id::RunId;
use yuba_core::plan::render::{self, View};
use yuba_core::plan::summary::PlanSummary;
use yuba_core::run::{Run, RunState};
use yuba_core::source::{Definition, Observation, Source};
use yuba_core::spec::StackSpec;
use yuba_core::stack::{Applied, DriftState, Ready, Retry, Stack};
use yuba_core::state_address::{StateAddress, known_address};
use yuba_core::time::Timestamp;

use super::{commit, run, signed, words};
use crate::wire::{
    AppliedView, DefinitionView, DriftReport, ObservationView, RetryView, StackDetail, StackItem,
};

/// All that is known of a stack.
pub(crate) struct Known {
    pub(crate) stack: Stack,
    pub(crate) definition: Option<Definition>,
    pub(crate) observation: Option<Observation>,
    /// The source that holds its code.
    pub(crate) source: Option<Source>,
    /// Newest first.
    pub(crate) runs: Vec<Run>,
    /// The run that found the drift that stands, and what it found.
    pub(crate) drifted: Option<(Run, PlanSummary)>,
}

/// The run that a list names: the one that has not ended, else the one that found the drift that stands.
pub(crate) fn listed_run(stack: &Stack) -> Option<RunId> {
    stack.run.or(stack.drift.as_ref().map(|drift| drift.run))
}

/// How it stands, and what keeps its task from being started.
fn status(stack: &Stack, run: Option<&Run>) -> String {
    let shown = &stack.shown.status;
    match run.and_then(Run::attempt_out).and_then(|attempt| stack.start_trouble(attempt)) {
        Some(trouble) => format!("{shown}; its task is not started yet: {trouble}"),
        None => shown.clone(),
    }
}

/// A stack in a list; `run` is the one that it names.
pub(crate) fn item(stack: &Stack, definition: Option<&Definition>, run: Option<&Run>) -> StackItem {
    let spec = definition.map(|definition| &definition.spec);
    let revision = run.map(|run| &run.revision).or(stack.applied.as_ref().map(|applied| &applied.revision));
    let waiting = run.filter(|run| run.state == RunState::AwaitingApproval || stack.run.is_none());
    StackItem {
        namespace: stack.name.namespace.clone(),
        name: stack.name.name.clone(),
        ready: ready(stack.shown.ready).to_owned(),
        state: stack.shown.state.clone(),
        status: status(stack, run),
        revision: revision.map(ToString::to_string),
        plan: waiting.and_then(|run| run.plan.as_ref()).map(run::plan_id),
        run: listed_run(stack).map(|run| run.to_string()),
        suspended: stack.suspended.is_some() || spec.is_some_and(|spec| spec.suspend),
        drift: stack.drift.as_ref().map_or(0, |drift| drift.resources),
        source: spec.map(|spec| spec.source.to_string()),
        path: spec.map(|spec| spec.path.clone()),
        labels: spec.map(|spec| spec.labels.clone()).unwrap_or_default(),
        vanished: definition.is_some_and(|definition| definition.vanished.is_some()),
        created_at: made_at(stack).to_string(),
        updated_at: stack.updated_at.to_string(),
    }
}

/// A stack with all that is known of it.
pub(crate) fn detail(known: &Known) -> StackDetail {
    let Known { stack, definition, observation, source, runs, drifted } = known;
    let current = stack.run.and_then(|id| runs.iter().find(|run| run.id == id));
    let failure = runs.first().and_then(|run| run.failure.as_ref());
    StackDetail {
        stack: item(stack, definition.as_ref(), current.or(drifted.as_ref().map(|(run, _)| run))),
        id: stack.id.to_string(),
        definition: definition.as_ref().map(self::definition),
        observation: observation.as_ref().map(self::observation),
        source_trouble: definition
            .as_ref()
            .and_then(|definition| source_trouble(definition, source.as_ref())),
        state_address: definition
            .as_ref()
            .and_then(|known| state_address(stack, &known.spec, observation.as_ref())),
        applied: stack.applied.as_ref().map(applied),
        waits_for: current.map(|run| words::waiting(run, stack)).unwrap_or_default(),
        drift: stack.drift.as_ref().map(|drift| self::drift(drift, drifted.as_ref())),
        checked_at: stack.checked_at.map(|at| at.to_string()),
        suspended_by: stack.suspended.as_ref().map(signed),
        retry: stack.retry.as_ref().map(retry),
        lock: failure.and_then(|failure| failure.lock.as_ref()).map(run::lock),
        pending: stack.outbox.iter().map(pending).collect(),
        runs: runs.iter().map(run::item).collect(),
    }
}

/// Why nothing newer of a stack's code can be seen.
fn source_trouble(definition: &Definition, source: Option<&Source>) -> Option<String> {
    let name = &definition.spec.source;
    let Some(source) = source else { return Some(format!("no manifest defines source {name}")) };
    if source.vanished.is_some() {
        return Some(format!("source {name} vanished from the manifests"));
    }
    let failure = source.failure.as_ref()?;
    let again = source.due.map(|due| format!("; next look at {due}")).unwrap_or_default();
    Some(format!("source {name} cannot be read: {}{again}", failure.message))
}

fn state_address(stack: &Stack, spec: &StackSpec, observation: Option<&Observation>) -> Option<String> {
    match known_address(spec, observation) {
        StateAddress::Own => Some(match stack.state_kept_as {
            None => "kept by Yuba under the stack's own id".to_owned(),
            Some(id) => format!("kept by Yuba under the id {id}"),
        }),
        StateAddress::At(place) => Some(place),
        StateAddress::Perhaps(_) => None,
    }
}

/// Where a state of a stack of these settings is pushed; only the engine knows it in full where the backend is not
/// literal.
pub(crate) fn state_target(stack: &Stack, spec: &StackSpec, observation: Option<&Observation>) -> String {
    let workspace = &spec.workspace;
    state_address(stack, spec, observation).unwrap_or_else(|| {
        format!("the backend that its code or manifest names, whose address is not literal (workspace {workspace})")
    })
}

/// A Ready condition as kubectl writes it.
pub(crate) fn ready(ready: Ready) -> &'static str {
    match ready {
        Ready::True => "True",
        Ready::False => "False",
        Ready::Unknown => "Unknown",
    }
}

/// When a stack became known: its id says it.
fn made_at(stack: &Stack) -> Timestamp {
    Timestamp(i64::try_from(stack.id.0.timestamp_ms()).unwrap_or(i64::MAX))
}

fn definition(definition: &Definition) -> DefinitionView {
    let spec = &definition.spec;
    DefinitionView {
        place: definition.place.clone(),
        set: definition.set.to_string(),
        snapshot: definition.snapshot,
        source: spec.source.to_string(),
        path: spec.path.clone(),
        workspace: spec.workspace.clone(),
        approve_plan: words::approve_plan(&spec.approve_plan),
        interval: spec.interval.to_string(),
        planned_only_because: spec.planned_only_because(),
        suspend: spec.suspend,
        depends_on: spec.depends_on.iter().map(ToString::to_string).collect(),
        engine: words::engine(&spec.engine),
        not_applied: spec.not_applied.iter().map(|field| field.field.clone()).collect(),
        held_back: definition.held_back.clone(),
    }
}

fn observation(observation: &Observation) -> ObservationView {
    ObservationView {
        number: observation.number,
        revision: observation.revision.to_string(),
        commit: commit(&observation.commit),
        changed: observation.changed.iter().map(ToString::to_string).collect(),
        problems: observation.problems.clone(),
        notices: observation.notices.clone(),
        at: observation.at.to_string(),
    }
}

fn applied(applied: &Applied) -> AppliedView {
    AppliedView {
        revision: applied.revision.to_string(),
        run: applied.run.to_string(),
        commit: commit(&applied.commit),
        at: applied.at.to_string(),
        destroyed: applied.destroyed,
    }
}

fn drift(drift: &DriftState, found: Option<&(Run, PlanSummary)>) -> DriftReport {
    DriftReport {
        run: drift.run.to_string(),
        since: drift.since.to_string(),
        resources: drift.resources,
        plan: found.and_then(|(run, _)| run.plan.as_ref()).map(run::plan_id),
        text: found.map(|(_, summary)| drift_text(summary)).unwrap_or_default(),
    }
}

/// What changed outside, then what would put it right.
fn drift_text(summary: &PlanSummary) -> String {
    let view = View::default();
    let parts = [
        ("Changed outside (state → reality):", render::drift(&summary.drift, &view)),
        ("To put it right:", render::changes(&summary.changes, &view)),
    ];
    let written = parts.iter().filter(|(_, part)| !part.is_empty());
    written.flat_map(|(heading, part)| [*heading, "\n", part.trim_end(), "\n"]).collect()
}

fn retry(retry: &Retry) -> RetryView {
    RetryView { failures: retry.failures, due: retry.due.map(|due| due.to_string()) }
}

fn pending(pending: &PendingEffect) -> String {
    match &pending.trouble {
        Some(trouble) => format!("{} since {}: {trouble}", pending.key, pending.since),
        None => format!("{} since {}", pending.key, pending.since),
    }
}
