//! Who lets a plan be applied. Default: nobody.

use super::draft::Draft;
use crate::id::{ContentDigest, PlanId};
use crate::request::DecisionVerdict;
use crate::run::{Run, RunKind};
use crate::spec::ApprovePlan;
use crate::stack::UsedApproval;

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
            ApprovePlan::Plan { digest: None, .. } => self.use_approval(id, content),
        }
    }

    /// A plan id without a digest approves the first plan of that id; another one of the id needs the digest.
    fn use_approval(&mut self, id: &PlanId, content: ContentDigest) -> bool {
        match &self.stack.used_approval {
            Some(used) if used.plan == *id => used.content == content,
            _ => {
                self.stack.used_approval = Some(UsedApproval { plan: id.clone(), content });
                true
            }
        }
    }
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
