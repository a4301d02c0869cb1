//! A decision on what somebody had before their eyes: it is refused where that is over, or is something else by now.

use super::draft::Draft;
use super::requests::Refusal;
use crate::id::ContentDigest;
use crate::request::Seen;
use crate::run::{Run, RunState};

impl Draft {
    /// Refuses a decision about a run that waits no more, or whose plan was made again.
    pub(super) fn refuse_unless_seen(&self, seen: &Seen) -> Result<(), Refusal> {
        match &self.run {
            Some(run) if run.id == seen.run => refuse_unless_waiting(run, seen.content),
            None if self.is_standing_drift(seen) => Ok(()),
            Some(run) if self.is_standing_drift(seen) => {
                let (number, state) = (run.number, run.state);
                Err(Refusal(format!("run {number} is {state}; press again when it has ended")))
            }
            _ => Err(Refusal(self.is_over(seen))),
        }
    }

    /// Drift that stands is the same whichever check found it last.
    fn is_standing_drift(&self, seen: &Seen) -> bool {
        let drift = self.stack.drift.as_ref();
        drift.is_some_and(|drift| seen.content == Some(drift.content))
    }

    /// What became of a run that is not the current one, and what there is in its place.
    fn is_over(&self, seen: &Seen) -> String {
        let ended = match self.named.as_ref().filter(|run| run.id == seen.run) {
            Some(run) if run.state == RunState::Drifted => {
                format!("the drift that run {} found is not what stands now", run.number)
            }
            Some(run) => format!("run {} is {}{}", run.number, run.state, decided(run)),
            None => "that run is not known any more".to_owned(),
        };
        match &self.run {
            Some(run) if run.state == RunState::AwaitingApproval => {
                format!("{ended}; run {} waits for approval now: look at its plan", run.number)
            }
            Some(run) => format!("{ended}; run {} is {} now", run.number, run.state),
            None => format!("{ended}; nothing waits for a decision"),
        }
    }
}

fn refuse_unless_waiting(run: &Run, content: Option<ContentDigest>) -> Result<(), Refusal> {
    let number = run.number;
    if !matches!(run.state, RunState::AwaitingApproval | RunState::AwaitingAdoption) {
        return Err(Refusal(format!("run {number} is {} already{}", run.state, decided(run))));
    }
    let current = run.plan.as_ref().map(|plan| plan.report.content);
    match current {
        Some(current) if content.is_some_and(|seen| seen != current) => Err(Refusal(format!(
            "the plan of run {number} was made again and differs from the one you saw: look at it as it is now, {}",
            current.short()
        ))),
        _ => Ok(()),
    }
}

/// Who decided a run last, if anybody did.
fn decided(run: &Run) -> String {
    let last = run.decisions.last();
    last.map(|decision| format!(" ({} {} it)", decision.by.who, decision.verdict.past())).unwrap_or_default()
}
