//! What is heard of the attempt that is out: its report, its silence, its task's end.

use super::TaskSeen;
use super::draft::Draft;
use crate::attempt::{Attempt, AttemptReport, AttemptState, StopOrder};
use crate::effect::Effect;
use crate::event::EventKind;
use crate::id::{AttemptId, Phase};
use crate::run::{Failure, FailureClass, RunState, Waiting};
use crate::schedule::{CLAIM_WITHIN, KILL_AFTER, MOST_PLAN_ATTEMPTS, STOP_GRACE};

impl Draft {
    /// Effects that were given up: a task that cannot be started fails its run; the rest is reported.
    pub(super) fn hear_effects(&mut self) {
        let (given_up, pending) = self.stack.outbox.drain(..).partition(|pending| pending.given_up);
        self.stack.outbox = pending;
        let given_up: Vec<crate::effect::PendingEffect> = given_up;
        for pending in given_up {
            self.stack.given_up = self.stack.given_up.saturating_add(1);
            let trouble = pending.trouble.unwrap_or_default();
            match pending.effect {
                Effect::StartTask { attempt } => self.hear_start_refused(attempt, &trouble),
                Effect::WriteOutputs { secret, .. } => self.hear_outputs_refused(&secret, &trouble),
                Effect::Publish { .. } => self.note(format!("event {} was given up: {trouble}", pending.key)),
                _ => {
                    self.publish(EventKind::EffectFailed, format!("{} was given up: {trouble}", pending.key));
                }
            }
        }
    }

    /// A start was refused for good. One that was made before, and whose answer was lost, may have been claimed
    /// meanwhile: then the task runs, and its attempt goes on.
    fn hear_start_refused(&mut self, attempt: AttemptId, trouble: &str) {
        let waits = |out: &Attempt| out.id == attempt && out.state == AttemptState::Issued;
        if !self.attempt.as_ref().is_some_and(waits) {
            return self.note(format!("a start of {attempt} was refused, which runs or ran: {trouble}"));
        }
        self.end_attempt(format!("not started: {trouble}"));
        self.fail(failure(FailureClass::Configuration, format!("the task could not be started: {trouble}")));
    }

    /// What became of the attempt that is out.
    pub(super) fn hear_attempt(&mut self) {
        let Some(attempt) = self.attempt.clone() else { return };
        let starting = self
            .stack
            .outbox
            .iter()
            .any(|pending| pending.effect == Effect::StartTask { attempt: attempt.id });
        match (attempt.state, self.task.clone()) {
            (AttemptState::Reported, _) => self.hear_report(&attempt),
            (AttemptState::Closed, _) => self.lose(&attempt, "its claim was closed"),
            (AttemptState::Issued, Some(TaskSeen::NeverStarted)) if !starting => {
                self.lose(&attempt, "its task was never started");
            }
            (AttemptState::Claimed, Some(TaskSeen::NeverStarted)) if self.is_past_killing(&attempt) => {
                self.lose(&attempt, "nothing is known of its task, and its time is long over");
            }
            (_, Some(TaskSeen::Stopped(how))) => {
                self.lose(&attempt, &format!("its task stopped without a report ({how})"));
            }
            (AttemptState::Claimed, _) => {
                self.on_run(|run| run.waits_for = Waiting::Report);
                self.bound(attempt);
            }
            (AttemptState::Issued, _) => self.bound(attempt),
        }
    }

    fn hear_report(&mut self, attempt: &Attempt) {
        let Some(report) = attempt.report.clone() else {
            return self.lose(attempt, "its report is missing");
        };
        match report {
            AttemptReport::Planned(report) => {
                self.end_attempt("reported");
                self.hear_plan(attempt.id, &report);
            }
            AttemptReport::Applied { notices, .. } => {
                self.end_attempt("reported");
                self.hear_apply(attempt.id, &notices);
            }
            AttemptReport::Failed(failure) => {
                self.end_attempt(format!("failed: {}", failure.message));
                self.hear_failure(attempt, failure);
            }
            AttemptReport::Stopped { message, acted, errored_state } => {
                self.end_attempt(format!("stopped: {message}"));
                self.hear_stop(attempt, &message, acted, errored_state);
            }
        }
    }

    fn hear_failure(&mut self, attempt: &Attempt, failure: Failure) {
        let again = failure.class == FailureClass::StalePlan && self.may_plan_again();
        if again && attempt.id.phase == Phase::Apply {
            self.note("the state moved on under the plan; planned again");
            return self.issue(Phase::Plan);
        }
        if failure.class == FailureClass::Artifact {
            let (attempt, source) = (attempt.id, attempt.job.spec.source.clone());
            self.effect(Effect::StoreArtifact { attempt, source });
        }
        self.fail(failure);
    }

    fn hear_stop(&mut self, attempt: &Attempt, message: &str, acted: bool, errored_state: bool) {
        let by = self.run.as_ref().and_then(|run| run.cancelled_by.clone());
        let half = if acted { "; what had been changed by then stands in the state" } else { "" };
        if let Some(by) = by.filter(|_| !errored_state) {
            self.publish(EventKind::RunDropped, format!("{} cancelled the run{half}.", by.who));
            return self.end_run(RunState::Cancelled);
        }
        let class = match attempt.stop {
            Some(_) => FailureClass::TimedOut,
            None => FailureClass::Lost,
        };
        self.fail(Failure { errored_state, ..failure(class, format!("{message}{half}")) });
    }

    /// The attempt will never report. Its claim is closed, so that whatever may still come of it is refused.
    fn lose(&mut self, attempt: &Attempt, why: &str) {
        self.end_attempt(format!("lost: {why}"));
        if let Some(by) = self.run.as_ref().and_then(|run| run.cancelled_by.clone()) {
            self.publish(EventKind::RunDropped, format!("{} cancelled the run.", by.who));
            return self.end_run(RunState::Cancelled);
        }
        if attempt.id.phase == Phase::Plan && self.may_plan_again() {
            self.note(format!("attempt {} was lost: {why}; planned again", attempt.id));
            return self.issue(Phase::Plan);
        }
        let advice = match attempt.id.phase {
            Phase::Plan => "",
            Phase::Apply => {
                "; the state may hold half of the plan and the backend may still be locked: the next plan tells"
            }
        };
        self.fail(failure(
            FailureClass::Lost,
            format!("the {} attempt was lost: {why}{advice}", attempt.id.phase),
        ));
    }

    fn may_plan_again(&self) -> bool {
        let tried =
            |run: &crate::run::Run| run.attempts.iter().filter(|note| note.id.phase == Phase::Plan).count();
        self.run.as_ref().is_some_and(|run| tried(run) < MOST_PLAN_ATTEMPTS)
    }

    /// Whether an attempt would have been killed by now. One that claimed did run, so a launcher that knows of no task has
    /// forgotten it: it counts as lost no sooner than a task that runs could still be acting.
    fn is_past_killing(&self, attempt: &Attempt) -> bool {
        attempt.stop.as_ref().is_some_and(|stop| self.now > stop.at + KILL_AFTER)
    }

    /// Asks an attempt that takes too long to stop, and kills it only if it still runs long after.
    fn bound(&mut self, mut attempt: Attempt) {
        let late = match attempt.claimed_at {
            Some(claimed) => self.now > claimed + attempt.job.timeout + STOP_GRACE,
            None => self.now > attempt.issued_at + CLAIM_WITHIN && self.task == Some(TaskSeen::Running),
        };
        match &attempt.stop {
            Some(_) if self.is_past_killing(&attempt) => {
                self.effect(Effect::KillTask { attempt: attempt.id });
            }
            None if late => {
                let why = format!("the {} took longer than {}", attempt.id.phase, attempt.job.timeout);
                self.note(&*why);
                attempt.stop = Some(StopOrder { at: self.now, why });
                self.attempt = Some(attempt);
            }
            _ => {}
        }
    }
}

/// A failure with a message alone.
pub(super) fn failure(class: FailureClass, message: String) -> Failure {
    Failure { class, message, detail: String::new(), lock: None, errored_state: false }
}
