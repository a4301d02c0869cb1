//! Who lets a plan be applied. Default: nobody.

use super::draft::Draft;
use crate::event::EventKind;
use crate::id::{ContentDigest, PlanId};
use crate::request::{Decision, DecisionVerdict, Signed};
use crate::run::{Run, RunKind};
use crate::source::Definition;
use crate::spec::ApprovePlan;
use crate::stack::{FirstPlan, Stack};

impl Draft {
    /// Whether the current run's plan may be applied now. An approval that is used up is written down.
    pub(super) fn is_approved(&mut self) -> bool {
        let Some(run) = &self.run else { return false };
        let Some(plan) = &run.plan else { return false };
        let (id, content) = (plan.report.plan_id.clone(), plan.report.content);
        if is_approved_by_person(run, content) || !plan.report.has_changes {
            return true;
        }
        if let Some(expected) = run.expects {
            return expected == content;
        }
        self.is_approved_by_manifest(&id, content)
    }

    fn is_approved_by_manifest(&mut self, id: &PlanId, content: ContentDigest) -> bool {
        let (Some(run), Some(definition)) = (&self.run, &self.definition) else { return false };
        let asked_by_person = run.kind == RunKind::Destroy && run.asked_by.is_some();
        match &definition.spec.approve_plan {
            ApprovePlan::Disable | ApprovePlan::Manual => definition.spec.force && !asked_by_person,
            ApprovePlan::Auto => !asked_by_person,
            ApprovePlan::Plan { id: named, .. } if named != id => {
                let message = format!("the manifest approves {named}, the plan that waits is {id}");
                self.note(message);
                false
            }
            ApprovePlan::Plan { digest: Some(digest), .. } => content_starts_with(content, digest),
            ApprovePlan::Plan { digest: None, .. } => is_first_plan(&self.stack, id, content),
        }
    }

    /// Where a plan id in the manifest is what approves: who put it there, and how that is known.
    pub(super) fn write_down_approval_by_manifest(&mut self) {
        let Some(plan) = self.run.as_ref().and_then(|run| run.plan.as_ref()) else { return };
        let (id, content) = (plan.report.plan_id.clone(), plan.report.content);
        let by_person = self.run.as_ref().is_some_and(|run| is_approved_by_person(run, content));
        let named =
            |definition: &&Definition| matches!(definition.spec.approve_plan, ApprovePlan::Plan { .. });
        let Some(definition) = self.definition.as_ref().filter(named).filter(|_| !by_person) else { return };
        let known_by = definition.author_known_by.as_deref().unwrap_or("nobody is named").to_owned();
        let by = Signed {
            who: definition.author.clone().unwrap_or_else(|| "whoever may write the manifests".to_owned()),
            at: self.now,
            from: format!("manifest ({known_by})"),
            message: format!("approvePlan in {}", definition.place),
        };
        let message = format!("{} approved {id} in the manifest ({known_by}).", by.who);
        self.on_run(|run| run.decisions.push(Decision { verdict: DecisionVerdict::Approve, content, by }));
        self.publish(EventKind::PlanDecided, message);
    }

    /// Remembers the first plan of each id.
    pub(super) fn remember_plan(&mut self, plan: &PlanId, content: ContentDigest) {
        let first_plans = &mut self.stack.first_plans;
        if first_plans.iter().any(|first| first.plan == *plan) {
            return;
        }
        first_plans.push(FirstPlan { plan: plan.clone(), content });
        let forgotten = first_plans.len().saturating_sub(MOST_FIRST_PLANS);
        first_plans.drain(..forgotten);
    }
}

/// How many plan ids are remembered.
const MOST_FIRST_PLANS: usize = 20;

/// Whether the id alone means this content: another plan of the id came first where it does not.
pub(super) fn is_first_plan(stack: &Stack, id: &PlanId, content: ContentDigest) -> bool {
    stack.first_plans.iter().all(|first| first.plan != *id || first.content == content)
}

fn is_approved_by_person(run: &Run, content: ContentDigest) -> bool {
    run.decisions
        .iter()
        .any(|decision| decision.verdict == DecisionVerdict::Approve && decision.content == content)
}

/// Whether a content digest starts with the digits that somebody typed.
pub(super) fn content_starts_with(content: ContentDigest, digits: &str) -> bool {
    let written = content.to_string();
    let hexadecimal = written.trim_start_matches("sha256:");
    digits.len() >= 12 && hexadecimal.starts_with(&digits.to_ascii_lowercase())
}
