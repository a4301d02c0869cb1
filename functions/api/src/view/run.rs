//! Runs.

use yuba_core::attempt::Attempt;
use yuba_core::dialect::binary;
use yuba_core::run::{AttemptNote, Failure, LockHeld, Run, StoredPlan};
use yuba_core::stack::Stack;

use super::{commit, signed, words};
use crate::wire::{
    AttemptView, DecisionView, FailureView, LockView, PlanView, ProgressView, RunDetail, RunItem,
};

/// A run in a list.
pub(crate) fn item(run: &Run) -> RunItem {
    RunItem {
        id: run.id.to_string(),
        namespace: run.name.namespace.clone(),
        name: run.name.name.clone(),
        number: run.number,
        kind: words::word(run.kind),
        state: run.state.to_string(),
        revision: run.revision.to_string(),
        plan: run.plan.as_ref().map(plan_id),
        changes: run.plan.as_ref().map(|plan| words::changes(&plan.report.counts)),
        because: words::reasons(run),
        created_at: run.created_at.to_string(),
        ended_at: run.ended_at.map(|at| at.to_string()),
    }
}

/// A run of a stack with all that is known of it; `out` is the attempt that is out.
pub(crate) fn detail(run: &Run, stack: &Stack, out: Option<&Attempt>) -> RunDetail {
    RunDetail {
        run: item(run),
        commit: commit(&run.commit),
        because: run.because.iter().map(ToString::to_string).collect(),
        asked_by: run.asked_by.as_ref().map(signed),
        waits_for: words::waiting(run, stack),
        attempts: run.attempts.iter().map(attempt).collect(),
        progress: out.and_then(progress),
        plan: run.plan.as_ref().map(plan),
        decisions: run.decisions.iter().map(decision).collect(),
        failure: run.failure.as_ref().map(failure),
        updated_at: run.updated_at.to_string(),
    }
}

/// A plan as `approve` takes it: with its digest, so that what was seen is what is approved.
pub(crate) fn plan_id(plan: &StoredPlan) -> String {
    format!("{}@{}", plan.report.plan_id, plan.report.content.short())
}

/// A lock.
pub(crate) fn lock(lock: &LockHeld) -> LockView {
    let LockHeld { id, who, operation, .. } = lock.clone();
    LockView { id, who, operation, created: lock.since() }
}

fn attempt(note: &AttemptNote) -> AttemptView {
    AttemptView {
        id: note.id.to_string(),
        phase: note.id.phase.to_string(),
        since: note.since.to_string(),
        ended_at: note.ended.as_ref().map(|end| end.at.to_string()),
        how: note.ended.as_ref().map(|end| end.how.clone()),
    }
}

/// How far an attempt says it is.
pub(crate) fn progress(attempt: &Attempt) -> Option<ProgressView> {
    attempt.progress.as_ref().map(|progress| ProgressView {
        phase: attempt.id.phase.to_string(),
        step: progress.step.clone(),
        done: progress.done,
        total: progress.total,
        current: progress.current.clone(),
    })
}

fn plan(plan: &StoredPlan) -> PlanView {
    let report = &plan.report;
    PlanView {
        id: report.plan_id.to_string(),
        content: report.content.to_string(),
        changes: words::changes(&report.counts),
        has_changes: report.has_changes,
        engine: format!("{} {}", binary(report.engine), report.engine_version),
        notices: report.notices.clone(),
        at: plan.at.to_string(),
    }
}

fn decision(decision: &yuba_core::request::Decision) -> DecisionView {
    DecisionView {
        verdict: words::word(decision.verdict),
        content: decision.content.to_string(),
        by: signed(&decision.by),
    }
}

fn failure(failure: &Failure) -> FailureView {
    FailureView {
        class: words::word(failure.class),
        message: failure.message.clone(),
        detail: failure.detail.clone(),
        lock: failure.lock.as_ref().map(lock),
        recoverable: failure.errored_state,
    }
}
