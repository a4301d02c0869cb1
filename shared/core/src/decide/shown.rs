//! How a stack stands, in the words that people of tofu-controller know.

use super::approval::is_first_plan;
use super::draft::Draft;
use super::reports::drift_sentence;
use crate::id::Phase;
use crate::run::{Run, RunKind, RunState, Waiting};
use crate::stack::{Ready, Shown, Stack};

impl Draft {
    /// How the stack stands now.
    pub(super) fn shown(&self) -> Shown {
        let settled = &self.stack.settled;
        let state = self.run.as_ref().map_or_else(|| settled.state.clone(), |run| run.state.to_string());
        let (ready, status) = self.ready_and_status();
        Shown { ready, state, status }
    }

    /// How it stands after the run that ended in this decision, if one did.
    pub(super) fn settled(&self) -> Option<Shown> {
        let run = self.ended.last()?;
        let refused = run.spec.write_outputs.is_some() && self.stack.outputs_written.is_none();
        let only_looked = run.state == RunState::Unchanged && run.kind == RunKind::Drift;
        // That nothing drifted does not write outputs that are owed.
        if run.state == RunState::Superseded || (only_looked && refused && self.stack.applied.is_some()) {
            return None;
        }
        let (ready, status) = self.ended_ready_and_status(run);
        Some(Shown { ready, state: run.state.to_string(), status })
    }

    fn ready_and_status(&self) -> (Ready, String) {
        let settled = &self.stack.settled;
        let Some(definition) = &self.definition else {
            return (Ready::Unknown, "No manifest names it".to_owned());
        };
        if let Some(at) = definition.vanished {
            return (
                Ready::Unknown,
                format!("Vanished from the manifests at {at}; nothing of it was destroyed"),
            );
        }
        if let Some(run) = &self.run {
            return (under_way_ready(run, settled.ready), under_way(run, &self.stack));
        }
        if let Some(sentence) = self.shared_state_sentence() {
            return (Ready::False, sentence);
        }
        if definition.spec.suspend {
            return (settled.ready, "Suspended by its manifest".to_owned());
        }
        if let Some(by) = &self.stack.suspended {
            return (settled.ready, format!("Suspended by {}", by.who));
        }
        if self.observation.is_none() {
            return (Ready::Unknown, "Source is not ready: nothing was found in it yet".to_owned());
        }
        (settled.ready, settled.status.clone())
    }

    fn ended_ready_and_status(&self, run: &Run) -> (Ready, String) {
        let revision = &run.revision;
        match run.state {
            RunState::Applied if run.kind == RunKind::Destroy => {
                (Ready::True, format!("Destroy applied successfully: {revision}"))
            }
            RunState::Applied => (Ready::True, format!("Applied successfully: {revision}")),
            RunState::Unchanged if run.kind == RunKind::Drift => {
                (Ready::True, format!("No drift: {revision}"))
            }
            RunState::Unchanged if run.kind == RunKind::Destroy => {
                (Ready::True, format!("No objects need to be destroyed: {revision}"))
            }
            RunState::Unchanged => (Ready::True, format!("Plan no changes: {revision}")),
            RunState::Drifted => (Ready::False, self.drift_sentence()),
            RunState::Planned => (Ready::Unknown, planned(run)),
            RunState::Failed => (Ready::False, failed(run)),
            RunState::Discarded => (Ready::False, discarded(run)),
            state => (Ready::Unknown, format!("Run {} is {state}", run.number)),
        }
    }

    fn drift_sentence(&self) -> String {
        drift_sentence(self.stack.drift.as_ref().map_or(0, |drift| drift.resources))
    }
}

/// A stack that is only looked at stays as ready as it was; one that is to change is not known to be ready.
fn under_way_ready(run: &Run, before: Ready) -> Ready {
    match run.waits_for {
        Waiting::SharedState(_) => Ready::False,
        _ if run.kind == RunKind::Drift => before,
        _ => Ready::Unknown,
    }
}

fn under_way(run: &Run, stack: &Stack) -> String {
    match (run.state, &run.waits_for) {
        (_, Waiting::Dependencies(blocked)) => format!("Waiting for dependencies: {}", blocked.join("; ")),
        (_, Waiting::Resume) => "Waiting to be resumed".to_owned(),
        (_, Waiting::SharedState(why)) => why.clone(),
        (_, Waiting::Unpause) => "Approved; waiting for the installation's pause to end".to_owned(),
        (RunState::Queued, _) => "Queued".to_owned(),
        (RunState::Planning, _) if run.kind == RunKind::Drift => format!("Checking for drift: {}", run.revision),
        (RunState::Planning, _) => format!("Terraform Planning: {}", run.revision),
        (RunState::Applying, _) => format!("Applying: {}", run.revision),
        (RunState::AwaitingAdoption, _) => {
            "First plan waits: no backend is named and no state is here; say `yuba adopt` (--new or --state FILE)".to_owned()
        }
        _ => awaiting_approval(run, stack),
    }
}

fn awaiting_approval(run: &Run, stack: &Stack) -> String {
    let Some(plan) = &run.plan else { return "Plan generated".to_owned() };
    let id = &plan.report.plan_id;
    match run.expects {
        Some(expected) if expected != plan.report.content => format!(
            "Plan generated: it differs from the drift that was to be put right; approve {id}@{} to apply it",
            plan.report.content.short()
        ),
        _ if !is_first_plan(stack, id, plan.report.content) => {
            format!(
                "Plan generated: set approvePlan: \"{id}@{}\" to approve this plan.",
                plan.report.content.short()
            )
        }
        _ => format!("Plan generated: set approvePlan: \"{id}\" to approve this plan."),
    }
}

fn planned(run: &Run) -> String {
    match run.spec.planned_only_because() {
        Some(why) if !run.spec.plan_only => format!("Plan generated; never applied: {why}"),
        _ => "Plan generated: This object is in the plan only mode.".to_owned(),
    }
}

fn failed(run: &Run) -> String {
    let phase = run.attempts.last().map_or(Phase::Plan, |note| note.id.phase);
    let word = if phase == Phase::Plan { "Plan" } else { "Apply" };
    let message = run.failure.as_ref().map_or("unknown", |failure| failure.message.as_str());
    match run.failure.as_ref().and_then(|failure| failure.lock.as_ref()) {
        Some(lock) => format!(
            "Terraform Locked with Lock Identifier: {} (held by {} since {})",
            lock.id, lock.who, lock.created
        ),
        None if run.failure.as_ref().is_some_and(|failure| failure.errored_state) => {
            format!(
                "{word} failed, and its state could not be saved; `yuba recover {}` pushes it: {message}",
                run.id
            )
        }
        None => format!("{word} failed: {message}"),
    }
}

fn discarded(run: &Run) -> String {
    let by = run.decisions.last().map_or("somebody", |decision| decision.by.who.as_str());
    let plan = run.plan.as_ref().map_or_else(String::new, |plan| plan.report.plan_id.to_string());
    format!("Plan {plan} was rejected by {by}")
}
