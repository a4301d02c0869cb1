//! Where the state of a stack lives for which nobody names a backend: a first plan waits until somebody says so.

use super::draft::Draft;
use super::requests::{Answer, refuse};
use crate::id::Phase;
use crate::job::BeforePlan;
use crate::plan::summary::PlanReport;
use crate::request::{Adoption, Signed};
use crate::run::{FailureClass, Run, RunKind, RunState, Waiting};
use crate::source::Reason;

impl Draft {
    /// Whether nobody has said where the state of this stack lives, and there is none here.
    pub(super) fn must_be_adopted(&self, run: &Run, report: &PlanReport) -> bool {
        let is_new = run.spec.state_is_new && self.perhaps_renamed_from().is_empty();
        let settled = report.backend_named || !report.state_was_empty || is_new;
        !settled && self.stack.adopted.is_none() && self.stack.applied.is_none()
    }

    /// Somebody says it. A state that the backend refused leaves the question open, though no run waits for the answer.
    pub(super) fn adopt(&mut self, by: &Signed, adoption: Adoption) -> Answer {
        let waits = self.run.as_ref().is_some_and(|run| run.state == RunState::AwaitingAdoption);
        if !waits && !self.import_was_refused() {
            return refuse(format!("the stack does not wait for adoption: {}", self.stack.shown.status));
        }
        if !waits {
            self.refuse_suspended()?;
        }
        let answer = match adoption {
            Adoption::New => "adopted: the stack starts with an empty state".to_owned(),
            Adoption::Imported => {
                self.stack.backend_first = vec![BeforePlan::ImportState];
                self.stack.holds_resources = true;
                "adopted: the stack is planned again with the imported state".to_owned()
            }
            Adoption::From(former) => {
                let former = self.take_state_of(former)?;
                format!(
                    "adopted: the stack goes on under the state of {former}, and is planned again with it"
                )
            }
        };
        self.stack.adopted = Some(adoption);
        self.stack.handed_to = None;
        if !waits {
            let because = Reason::Asked(format!("{} said where the state lives", by.who));
            self.ask_run(by, RunKind::Tracked, because)?;
        }
        Ok(answer)
    }

    /// Whether the last run failed because the backend refused the state that was uploaded.
    fn import_was_refused(&self) -> bool {
        let refused = |run: &Run| {
            let failure = run.failure.as_ref().map(|failure| failure.class);
            failure == Some(FailureClass::Refused)
                && run.backend_first.first() == Some(&BeforePlan::ImportState)
        };
        let is_open = self.run.is_none() && self.stack.adopted.is_none() && self.stack.applied.is_none();
        is_open && self.named.as_ref().is_some_and(|last| Some(last.id) == self.stack.latest && refused(last))
    }

    /// `awaiting-adoption` → `awaiting-approval`, `planning` or `superseded`.
    pub(super) fn weigh_adoption(&mut self) -> bool {
        if self.is_outdated() {
            return self.supersede();
        }
        let new_in_manifest = self.definition.as_ref().is_some_and(|definition| definition.spec.state_is_new);
        match self.stack.adopted {
            Some(Adoption::Imported | Adoption::From(_)) => {
                let first = self.stack.backend_first.clone();
                self.on_run(|run| run.backend_first = first);
                self.issue(Phase::Plan);
                true
            }
            Some(Adoption::New) => self.adopt_as_new(),
            None if new_in_manifest && self.perhaps_renamed_from().is_empty() => self.adopt_as_new(),
            None => self.wait_for(Waiting::Adoption),
        }
    }

    fn adopt_as_new(&mut self) -> bool {
        self.stack.adopted = Some(Adoption::New);
        self.stack.handed_to = None;
        self.on_run(|run| run.state = RunState::AwaitingApproval);
        true
    }
}
