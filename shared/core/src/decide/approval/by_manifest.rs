//! What `approvePlan` says of a plan.

use super::{content_starts_with, is_first_plan};
use crate::decide::draft::Draft;
use crate::event::EventKind;
use crate::id::{ContentDigest, PlanId};
use crate::request::{Decision, DecisionVerdict, Signed};
use crate::run::RunKind;
use crate::source::Definition;
use crate::spec::ApprovePlan;

impl Draft {
    pub(super) fn is_approved_by_manifest(&mut self, id: &PlanId, content: ContentDigest) -> bool {
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
            ApprovePlan::Plan { .. } => self.manifest_names(id, content),
        }
    }

    /// Whether the manifest names this very plan as approved.
    pub(super) fn manifest_names(&self, id: &PlanId, content: ContentDigest) -> bool {
        match self.definition.as_ref().map(|definition| &definition.spec.approve_plan) {
            Some(ApprovePlan::Plan { id: named, .. }) if named != id => false,
            Some(ApprovePlan::Plan { digest: Some(digest), .. }) => content_starts_with(content, digest),
            Some(ApprovePlan::Plan { digest: None, .. }) => is_first_plan(&self.stack, id, content),
            _ => false,
        }
    }

    /// Who named the plan in the manifest, and how that is known.
    pub(super) fn signed_by_manifest(&self, definition: &Definition) -> Signed {
        let known_by = definition.author_known_by.as_deref().unwrap_or("nobody is named");
        Signed {
            who: definition.author.clone().unwrap_or_else(|| "whoever may write the manifests".to_owned()),
            at: self.now,
            from: format!("manifest ({known_by})"),
            message: format!("approvePlan in {}", definition.place),
            identity: definition.author_identity.clone(),
        }
    }

    /// Where a plan id in the manifest is what approves: who put it there, and how that is known.
    pub(in crate::decide) fn write_down_approval_by_manifest(&mut self) {
        let Some(plan) = self.run.as_ref().and_then(|run| run.plan.as_ref()) else { return };
        let (id, content) = (plan.report.plan_id.clone(), plan.report.content);
        let by_person = self.run.as_ref().is_some_and(|run| self.is_approved_by_person(run, content));
        let named =
            |definition: &&Definition| matches!(definition.spec.approve_plan, ApprovePlan::Plan { .. });
        let Some(definition) = self.definition.as_ref().filter(named).filter(|_| !by_person) else { return };
        let known_by = definition.author_known_by.as_deref().unwrap_or("nobody is named").to_owned();
        let by = self.signed_by_manifest(definition);
        let message = format!("{} approved {id} in the manifest ({known_by}).", by.who);
        self.on_run(|run| run.decisions.push(Decision { verdict: DecisionVerdict::Approve, content, by }));
        self.publish(EventKind::PlanDecided, message);
    }
}
