//! How a stack stands, in the words that people of tofu-controller know.

use super::approval::is_first_plan;
use super::draft::Draft;
use super::drift_answers::answered;
use crate::drift::drift_sentence;
use crate::id::{Phase, PlanId};
use crate::run::{Run, RunKind, RunState, Waiting};
use crate::spec::ApprovePlan;
use crate::stack::{Ready, Shown};
use crate::time::Timestamp;
use crate::trouble::Trouble;

impl Draft {
    /// How the stack stands now.
    pub(super) fn shown(&self) -> Shown {
        let settled = &self.stack.settled;
        let state = self.run.as_ref().map_or_else(|| settled.state.clone(), |run| run.state.to_string());
        let (ready, mut status) = self.ready_and_status();
        if self.waits_behind_others() {
            add(
                &mut status,
                "many stacks have the same error: the next try waits until one of them succeeds",
            );
        }
        if self.run.is_some()
            && let Some(who) = self.suspended_by()
        {
            add(&mut status, &format!("suspended by {who}"));
        }
        let waits = self.run.as_ref().filter(|run| run.state == RunState::AwaitingApproval);
        if let Some(frozen) = waits.and_then(|_| self.frozen()) {
            add(&mut status, &frozen.to_string());
        }
        if let Some(answer) = self.drift_answer().filter(|_| self.run.is_none()) {
            add(&mut status, &answered(answer));
        }
        if let Some(why) = self.faulty_manifest() {
            add(&mut status, &format!("its last good version stays in force: {why}"));
        }
        Shown { ready, state, status }
    }

    /// How it stands after the run that ended in this decision, if one did.
    pub(super) fn settled(&self) -> Option<Shown> {
        let run = self.ended.last()?;
        let refused = run.spec.write_outputs.is_some() && self.stack.outputs_written.is_none();
        let only_looked = run.state == RunState::Unchanged && run.kind == RunKind::Drift;
        let applied = self.stack.applied.as_ref().map(|applied| &applied.wanted);
        let unapplied = self.stack.planned.as_ref() != applied;
        // That nothing drifted neither writes outputs that are owed, nor applies what was planned since.
        let as_before = only_looked && (refused || unapplied) && applied.is_some();
        if run.state == RunState::Superseded || as_before || is_destruction_not_wanted(run) {
            return None;
        }
        let (ready, status) = self.ended_ready_and_status(run);
        Some(Shown { ready, state: run.state.to_string(), status })
    }

    fn suspended_by(&self) -> Option<&str> {
        if self.definition.as_ref().is_some_and(|definition| definition.spec.suspend) {
            return Some("its manifest");
        }
        self.stack.suspended.as_ref().map(|by| by.who.as_str())
    }

    fn waits_behind_others(&self) -> bool {
        let retries = self.stack.retry.as_ref().is_some_and(|retry| retry.due.is_some());
        self.run.is_none() && retries && self.trouble.is_some_and(Trouble::holds_back)
    }

    fn ready_and_status(&self) -> (Ready, String) {
        let settled = &self.stack.settled;
        let Some(definition) = &self.definition else {
            return (Ready::Unknown, "No manifest names it".to_owned());
        };
        if let Some(at) = definition.vanished {
            return self.vanished(at);
        }
        if let Some(run) = &self.run {
            return (under_way_ready(run, settled.ready), self.under_way(run));
        }
        if let Some(sentence) = self.shared_state_sentence() {
            return (Ready::False, sentence);
        }
        if let Some(who) = self.suspended_by() {
            return (settled.ready, format!("Suspended by {who}"));
        }
        if self.observation.is_none() {
            return (Ready::Unknown, "Source is not ready: nothing was found in it yet".to_owned());
        }
        (settled.ready, settled.status.clone())
    }

    /// A stack that no manifest names any more: what is under way, or else what is left of it.
    fn vanished(&self, at: Timestamp) -> (Ready, String) {
        let settled = &self.stack.settled;
        let applied = self.stack.applied.as_ref();
        let status = match &self.run {
            Some(run) if run.state == RunState::AwaitingApproval => format!(
                "{}; vanished from the manifests at {at}: `yuba approve --plan` or `yuba reject` decides",
                plan_generated(run)
            ),
            Some(run) => format!("{}; vanished from the manifests at {at}", self.under_way(run)),
            None if applied.is_some_and(|applied| applied.destroyed) => {
                format!("Vanished from the manifests at {at}, and destroyed")
            }
            None if self.is_handed_over() => return (Ready::Unknown, settled.status.clone()),
            None if settled.state == "failed" => {
                return (Ready::False, format!("{}; vanished from the manifests at {at}", settled.status));
            }
            None => format!("Vanished from the manifests at {at}; nothing of it was destroyed"),
        };
        (Ready::Unknown, status)
    }

    fn under_way(&self, run: &Run) -> String {
        match (run.state, &run.waits_for) {
            (_, Waiting::Dependencies(blocked)) => {
                format!("Waiting for dependencies: {}", blocked.join("; "))
            }
            (_, Waiting::Resume) => "Waiting to be resumed".to_owned(),
            (_, Waiting::SharedState(why)) => why.clone(),
            (_, Waiting::Unpause) => "Approved; waiting for the installation's pause to end".to_owned(),
            (_, Waiting::Freeze { .. }) => format!("{}, approved", plan_generated(run)),
            (RunState::Queued, _) => "Queued".to_owned(),
            (RunState::Planning, _) if run.kind == RunKind::Drift => {
                format!("Checking for drift: {}", run.revision)
            }
            (RunState::Planning, _) => format!("Terraform Planning: {}", run.revision),
            (RunState::Applying, _) => format!("Applying: {}", run.revision),
            (RunState::AwaitingAdoption, _) => self.adoption_sentence(),
            (_, Waiting::Window { why, opens: Some(opens) }) => {
                format!("{}; waits until {opens} for {why}", plan_generated(run))
            }
            (_, Waiting::Window { why, opens: None }) => {
                format!("{}; {why}: that never opens", plan_generated(run))
            }
            (_, Waiting::Approvals(needed)) => {
                format!("{}; needs {}", plan_generated(run), needed.join("; "))
            }
            _ => self.awaiting_approval(run),
        }
    }

    fn awaiting_approval(&self, run: &Run) -> String {
        let Some(plan) = &run.plan else { return "Plan generated".to_owned() };
        let (id, content) = (&plan.report.plan_id, plan.report.content);
        let exact = format!("{id}@{}", content.short());
        if run.expects.is_some_and(|expected| expected != content) {
            return format!(
                "Plan generated: it differs from the drift that was to be put right; approve {exact} to apply it"
            );
        }
        if run.kind == RunKind::Destroy {
            let resources = resources(plan.report.counts.delete);
            return format!("Destroy plan generated: set approvePlan: \"{exact}\" to destroy {resources}.");
        }
        let named = if is_first_plan(&self.stack, id, content) { id.to_string() } else { exact.clone() };
        match self.approves_nothing(id) {
            Some(written) => format!(
                "Plan generated: approvePlan: \"{written}\" approves nothing: another plan waits. Set approvePlan: \"{exact}\" to approve this plan."
            ),
            None => format!("Plan generated: set approvePlan: \"{named}\" to approve this plan."),
        }
    }

    /// What the manifest names as approved, where that is a plan of the waiting one's id. It waits, so another is meant.
    fn approves_nothing(&self, id: &PlanId) -> Option<String> {
        match &self.definition.as_ref()?.spec.approve_plan {
            ApprovePlan::Plan { id: named, digest: Some(digest) } if named == id => {
                Some(format!("{named}@{digest}"))
            }
            ApprovePlan::Plan { id: named, digest: None } if named == id => Some(named.to_string()),
            _ => None,
        }
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

/// Adds to a sentence.
fn add(status: &mut String, more: &str) {
    status.truncate(status.trim_end_matches('.').len());
    status.push_str("; ");
    status.push_str(more);
}

/// A stack that is only looked at stays as ready as it was; one that is to change is not known to be ready.
fn under_way_ready(run: &Run, before: Ready) -> Ready {
    match run.waits_for {
        Waiting::SharedState(_) => Ready::False,
        _ if run.kind == RunKind::Drift => before,
        _ => Ready::Unknown,
    }
}

/// A destruction that a person asked for and somebody decided against: the stack stands as it stood before.
fn is_destruction_not_wanted(run: &Run) -> bool {
    run.kind == RunKind::Destroy
        && run.asked_by.is_some()
        && matches!(run.state, RunState::Discarded | RunState::Cancelled)
}

fn plan_generated(run: &Run) -> String {
    let what = if run.kind == RunKind::Destroy { "Destroy plan" } else { "Plan" };
    match &run.plan {
        Some(plan) => format!("{what} generated: {}@{}", plan.report.plan_id, plan.report.content.short()),
        None => format!("{what} generated"),
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
            lock.id,
            lock.who,
            lock.since()
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
    let (by, message) = run.decisions.last().map_or(("somebody", ""), |decision| {
        (decision.by.who.as_str(), decision.by.message.lines().next().unwrap_or_default().trim())
    });
    let plan = run.plan.as_ref().map_or_else(String::new, |plan| plan.report.plan_id.to_string());
    let why = if message.is_empty() { String::new() } else { format!(": {}", shortened(message)) };
    format!("Plan {plan} was rejected by {by}{why}")
}

/// How much of what a person wrote a status repeats, in characters; the run keeps all of it.
const MOST_OF_A_MESSAGE: usize = 80;

fn shortened(message: &str) -> String {
    match message.char_indices().nth(MOST_OF_A_MESSAGE) {
        Some((end, _)) => format!("{}…", message.get(..end).unwrap_or_default()),
        None => message.to_owned(),
    }
}

fn resources(count: u32) -> String {
    if count == 1 { "1 resource".to_owned() } else { format!("{count} resources") }
}
