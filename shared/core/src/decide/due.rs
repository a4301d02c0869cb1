//! When a stack must be looked at next, whatever messages get lost.

use super::draft::Draft;
use crate::run::{Run, RunState, Waiting};
use crate::schedule::{LOOK_AGAIN, PLAN_MAX_AGE, WATCH_ATTEMPT};
use crate::time::Timestamp;
use crate::trouble::Trouble;

impl Draft {
    pub(super) fn due(&self) -> Option<Timestamp> {
        let effects = self.stack.outbox.iter().map(|pending| pending.due).min();
        [self.due_of_run(), effects].into_iter().flatten().min()
    }

    fn due_of_run(&self) -> Option<Timestamp> {
        let Some(run) = &self.run else { return self.due_of_next() };
        match run.state {
            RunState::Planning | RunState::Applying => Some(self.now + WATCH_ATTEMPT),
            RunState::Queued => Some(self.now + LOOK_AGAIN),
            RunState::AwaitingApproval if run.waits_for == Waiting::Unpause => Some(self.now + WATCH_ATTEMPT),
            RunState::AwaitingApproval
                if matches!(
                    run.waits_for,
                    Waiting::Window { opens: Some(_), .. } | Waiting::Freeze { .. }
                ) =>
            {
                self.due_of_window(run)
            }
            RunState::AwaitingApproval if matches!(run.waits_for, Waiting::SharedState(_)) => {
                Some(self.now + LOOK_AGAIN)
            }
            RunState::AwaitingAdoption if !self.perhaps_renamed_from().is_empty() => {
                Some(self.now + LOOK_AGAIN)
            }
            _ => {
                let too_old = run.plan.as_ref().map(|plan| plan.at + PLAN_MAX_AGE);
                let too_old = too_old.map(|due| due.max(self.now + LOOK_AGAIN));
                [too_old, self.due_of_freeze(run)].into_iter().flatten().min()
            }
        }
    }

    /// When the window opens that a run waits for, or its plan gets too old.
    fn due_of_window(&self, run: &Run) -> Option<Timestamp> {
        let opens = if let Waiting::Window { opens, .. } = &run.waits_for { *opens } else { None };
        let too_old = run.plan.as_ref().map(|plan| (plan.at + PLAN_MAX_AGE).max(self.now + LOOK_AGAIN));
        [opens, self.due_of_freeze(run), too_old].into_iter().flatten().min()
    }

    fn due_of_next(&self) -> Option<Timestamp> {
        let definition = self.definition.as_ref()?;
        if definition.vanished.is_some() || self.is_suspended() {
            return None;
        }
        if self.stack.asked.is_some() || self.stack.shares_state_with.is_some() {
            return Some(self.now + LOOK_AGAIN);
        }
        let retry = self.stack.retry.as_ref().and_then(|retry| retry.due);
        let behind = self.trouble.is_some_and(Trouble::holds_back);
        let retry = retry.map(|due| if behind { due.max(self.now + LOOK_AGAIN) } else { due });
        retry.or_else(|| self.next_check())
    }
}
