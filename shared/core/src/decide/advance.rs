//! Advancing a run as far as its records allow, whatever woke the stack.

use super::draft::Draft;
use crate::attempt::{Attempt, AttemptState};
use crate::effect::Effect;
use crate::event::EventKind;
use crate::id::{AttemptId, Phase};
use crate::job::{Job, PlanToApply};
use crate::run::{AttemptNote, Run, RunKind, RunState, Waiting};
use crate::schedule::PLAN_MAX_AGE;
use crate::source::Reason;
use crate::stack::Wanted;

/// More steps than any decision takes: each moves the run to another state.
const MOST_STEPS: usize = 6;

impl Draft {
    /// Moves on until nothing moves.
    pub(super) fn advance(&mut self) {
        for _ in 0..MOST_STEPS {
            let moved = match self.run.as_ref().map(|run| run.state) {
                None => self.begin_next(),
                Some(RunState::Queued) => self.leave_queue(),
                Some(RunState::AwaitingApproval) => self.weigh_approval(),
                Some(RunState::AwaitingAdoption) => self.weigh_adoption(),
                Some(_) => false,
            };
            if !moved {
                return;
            }
        }
    }

    /// `queued` → `planning` or `superseded`.
    fn leave_queue(&mut self) -> bool {
        if self.is_outdated() {
            return self.supersede();
        }
        if self.is_suspended() {
            return self.wait_for(Waiting::Resume);
        }
        let blocked: Vec<String> = self
            .dependencies
            .iter()
            .filter_map(|dependency| Some(format!("{} {}", dependency.name, dependency.blocked_by.as_ref()?)))
            .collect();
        let waits = self.run.as_ref().is_some_and(|run| run.kind == RunKind::Tracked);
        if waits && !blocked.is_empty() {
            return self.wait_for(Waiting::Dependencies(blocked));
        }
        self.take_newest_values();
        self.issue(Phase::Plan);
        true
    }

    /// The run is planned with the values that are there now.
    fn take_newest_values(&mut self) {
        let values = self.values.clone();
        let Some(run) = &mut self.run else { return };
        if run.kind == RunKind::Drift || run.expects.is_some() || run.wanted.values == values {
            return;
        }
        run.wanted.values = values;
        self.stack.planned = Some(run.wanted.clone());
    }

    /// `awaiting-approval` → `applying`, `planning` or `superseded`.
    fn weigh_approval(&mut self) -> bool {
        if self.is_outdated() {
            return self.supersede();
        }
        if let Some(why) = self.stale_because() {
            self.note(format!("planned again: {why}"));
            self.on_run(|run| run.because.push(Reason::Stale(why)));
            self.take_newest_values();
            self.issue(Phase::Plan);
            return true;
        }
        if !self.is_approved() {
            return self.ask_for_approval();
        }
        if self.is_suspended() {
            return self.wait_for(Waiting::Resume);
        }
        if self.paused.is_some() {
            return self.wait_for(Waiting::Unpause);
        }
        if let Some(waiting) = self.waits_for_window().or_else(|| self.waits_for_thaw()) {
            return self.wait_for(waiting);
        }
        if let Some(why) = self.held_back_by_state() {
            return self.wait_for(Waiting::SharedState(why));
        }
        self.write_down_approval_by_manifest();
        self.issue(Phase::Apply);
        self.publish(EventKind::ApplyStarted, "The apply was started.");
        true
    }

    /// Notes what the run waits for; nothing moves.
    pub(super) fn wait_for(&mut self, waiting: Waiting) -> bool {
        self.note(format!("the run waits for {}", waiting.words()));
        if self.run.as_ref().is_some_and(|run| run.waits_for != waiting) {
            self.on_run(|run| run.waits_for = waiting);
        }
        false
    }

    fn ask_for_approval(&mut self) -> bool {
        let waits = |run: &Run| matches!(run.waits_for, Waiting::Approval | Waiting::Approvals(_));
        let asked = self.run.as_ref().is_some_and(waits);
        let needed = self.approvals_needed();
        self.wait_for(if needed.is_empty() { Waiting::Approval } else { Waiting::Approvals(needed) });
        if !asked {
            self.publish(EventKind::ApprovalRequested, "A plan waits for approval.");
        }
        false
    }

    /// Whether something newer than the run is wanted. Runs on what was last applied are compared with nothing: they
    /// are dropped when there is anything newer to do.
    pub(super) fn is_outdated(&self) -> bool {
        let (Some(run), Some(wanted)) = (&self.run, self.wanted()) else { return false };
        if self.stack.asked.is_some() {
            return true;
        }
        let planned = self.stack.planned.as_ref();
        let newer = |known: &Wanted| {
            wanted.closure != known.closure
                || wanted.settings != known.settings
                || wanted.problems != known.problems
        };
        match (run.kind, run.expects) {
            (RunKind::Drift, _) | (_, Some(_)) => planned.is_some_and(newer),
            _ => newer(&run.wanted),
        }
    }

    /// What the run was made for is not planned any more: should it be wanted again before the next run is made (the
    /// stack may be suspended), that is a change against what was last applied.
    pub(super) fn supersede(&mut self) -> bool {
        let is_planned = |run: &Run| Some(&run.wanted) == self.stack.planned.as_ref();
        if self.run.as_ref().is_some_and(|run| run.kind != RunKind::Drift && is_planned(run)) {
            self.stack.planned = self.stack.applied.as_ref().map(|applied| applied.wanted.clone());
        }
        self.publish(EventKind::RunDropped, "The run was superseded by something newer.");
        self.end_run(RunState::Superseded);
        true
    }

    pub(super) fn is_suspended(&self) -> bool {
        self.stack.suspended.is_some()
            || self.definition.as_ref().is_some_and(|definition| definition.spec.suspend)
    }

    /// Why the stored plan must be made again before anybody applies it.
    fn stale_because(&self) -> Option<String> {
        let run = self.run.as_ref()?;
        let plan = run.plan.as_ref()?;
        if run.expects.is_none() && run.wanted.values != self.values {
            return Some("a secret or config map that it reads changed".to_owned());
        }
        (self.now.since(plan.at) > PLAN_MAX_AGE).then(|| format!("the plan is older than {PLAN_MAX_AGE}"))
    }

    /// Issues an attempt: the one before it has ended.
    pub(super) fn issue(&mut self, phase: Phase) {
        let (adopted, state_kept_as) = (self.stack.adopted.is_some(), self.stack.state_kept_as);
        if phase == Phase::Apply {
            self.stack.holds_resources = true;
            // However it ends, outputs may be others than before.
            self.stack.outputs_written = None;
        }
        self.stack.hosts_seen.clone_from(&self.hosts);
        let Some(run) = &mut self.run else { return };
        let number = run.attempts.iter().filter(|note| note.id.phase == phase).count();
        let id = AttemptId {
            run: run.id,
            phase,
            number: u32::try_from(number).unwrap_or(u32::MAX).saturating_add(1),
        };
        let plan = run.plan.as_ref().filter(|_| phase == Phase::Apply).map(|plan| PlanToApply {
            attempt: plan.attempt,
            file: plan.report.file,
            content: plan.report.content,
        });
        let job = Job {
            schema: 1,
            attempt: id,
            stack: run.stack,
            state_kept_as,
            name: run.name.clone(),
            kind: run.kind,
            revision: run.revision.clone(),
            tree: run.tree.clone(),
            timeout: if phase == Phase::Plan { run.spec.timeout } else { run.spec.apply_timeout },
            plan,
            backend_first: if phase == Phase::Plan { run.backend_first.clone() } else { Vec::new() },
            adopted: adopted || run.spec.state_is_new,
            spec: run.spec.clone(),
        };
        run.attempts.push(AttemptNote { id, since: self.now, ended: None });
        run.state = if phase == Phase::Plan { RunState::Planning } else { RunState::Applying };
        run.waits_for = Waiting::Claim;
        run.updated_at = self.now;
        self.attempt = Some(Attempt {
            id,
            stack: self.stack.id,
            job,
            state: AttemptState::Issued,
            issued_at: self.now,
            claimed_at: None,
            heard_at: None,
            progress: None,
            stop: None,
            report: None,
        });
        self.note(format!("attempt {id} is issued"));
        self.effect(Effect::StartTask { attempt: id });
    }
}
