//! Who lets a plan be applied. Default: nobody.
//!
//! What a manifest says by `approvePlan` and what its `approval` demands must both be met. Rules and teams are those that
//! stand now, not those of the run: they bind at once, when a decision comes and again before the apply.

mod by_manifest;
mod rules;
mod voter;
mod weigh;

use super::draft::Draft;
use crate::id::{ContentDigest, PlanId};
use crate::request::{Decision, DecisionVerdict};
use crate::run::Run;
use crate::stack::{FirstPlan, Stack};

pub(crate) use weigh::MOST_TEAMS;

impl Draft {
    /// Whether the current run's plan may be applied now.
    pub(super) fn is_approved(&mut self) -> bool {
        let Some(run) = &self.run else { return false };
        let Some(plan) = &run.plan else { return false };
        if !plan.report.has_changes {
            return true;
        }
        let (id, content) = (plan.report.plan_id.clone(), plan.report.content);
        if !self.approvals_needed().is_empty() {
            return false;
        }
        if self.is_approved_by_person(run, content) {
            return true;
        }
        if let Some(expected) = run.expects {
            return expected == content;
        }
        self.is_approved_by_manifest(&id, content)
    }

    /// Who or what let a run's plan be applied, for the audit trail.
    pub(super) fn allowed_by(run: &Run) -> String {
        let Some(report) = run.plan.as_ref().map(|plan| &plan.report) else { return String::new() };
        if !report.has_changes {
            return "the plan changes nothing".to_owned();
        }
        let counts = |decision: &&Decision| {
            decision.verdict == DecisionVerdict::Approve && decision.content == report.content
        };
        let by = run.decisions.iter().filter(counts).map(|Decision { by, .. }| by);
        let asked = run.asked_by.iter().filter(|_| run.expects == Some(report.content));
        let named: Vec<String> = by.chain(asked).map(|by| format!("{} ({})", by.who, by.from)).collect();
        if named.is_empty() {
            return "the manifest approves every plan".to_owned();
        }
        format!("approved by {}", named.join(", "))
    }

    /// Whether somebody approved this content who may decide still.
    fn is_approved_by_person(&self, run: &Run, content: ContentDigest) -> bool {
        let approves = |decision: &&Decision| {
            decision.verdict == DecisionVerdict::Approve && decision.content == content
        };
        run.decisions.iter().filter(approves).any(|decision| self.refuse_stranger(&decision.by).is_ok())
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

/// Whether a content digest starts with the digits that somebody typed.
pub(super) fn content_starts_with(content: ContentDigest, digits: &str) -> bool {
    let written = content.to_string();
    let hexadecimal = written.trim_start_matches("sha256:");
    digits.len() >= 12 && hexadecimal.starts_with(&digits.to_ascii_lowercase())
}
