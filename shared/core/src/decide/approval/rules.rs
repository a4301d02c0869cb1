//! What a stack's `approval` demands of a plan: who is still needed, and whose approval is refused.

use std::collections::BTreeSet;

use super::voter::Voter;
use super::weigh::{Scale, Vote};
use crate::approval::{ApprovalRule, Closed};
use crate::decide::draft::Draft;
use crate::decide::requests::Refusal;
use crate::people::Identity;
use crate::plan::summary::PlanReport;
use crate::request::{DecisionVerdict, Signed};
use crate::run::{Run, RunKind, Waiting};
use crate::spec::ApprovePlan;

impl Draft {
    /// Who must still approve the current run's plan, for people; empty where the rules are met, or are none.
    pub(in crate::decide) fn approvals_needed(&self) -> Vec<String> {
        let Some(run) = &self.run else { return Vec::new() };
        let Some(plan) = run.plan.as_ref().filter(|plan| plan.report.has_changes) else { return Vec::new() };
        let (rules, votes) = (self.rules(&plan.report), self.votes(run, &plan.report));
        let authors = authors(run);
        rules.iter().flat_map(|(name, rule)| self.scale(name, rule, &authors).needs(&votes)).collect()
    }

    /// Somebody may decide about this stack at all: where services vouch for people, a team must know them.
    pub(in crate::decide) fn refuse_stranger(&self, by: &Signed) -> Result<(), Refusal> {
        match Voter::of(by, &self.teams) {
            Voter::Stranger(known_as) => Err(Refusal(format!(
                "no Team knows {known_as}: ask whoever keeps the manifests for an entry in a Team"
            ))),
            Voter::Person(_) | Voter::TokenHolder => Ok(()),
        }
    }

    /// Whether somebody's approval of a run's plan would count: which rule stands against it, and what to do.
    pub(in crate::decide) fn refuse_approver(
        &self,
        by: &Signed,
        run: &Run,
        report: &PlanReport,
    ) -> Result<(), Refusal> {
        self.refuse_stranger(by)?;
        let voter = Voter::of(by, &self.teams);
        let (rules, authors) = (self.rules(report), authors(run));
        let demanding = || rules.iter().filter(|(_, rule)| rule.people() > 0);
        let scale = |(name, rule)| self.scale(name, rule, &authors);
        let objections: Vec<String> =
            demanding().filter_map(|(name, rule)| scale((name, rule)).objection(&voter)).collect();
        let counts_somewhere = objections.len() < demanding().count();
        if let Some(objection) = objections.into_iter().next().filter(|_| !counts_somewhere) {
            return Err(Refusal(objection));
        }
        if let Some((name, closed)) = self.closed(report) {
            return Err(Refusal(format!("{name}.onlyWithin: {closed}")));
        }
        self.refuse_frozen()?;
        let earlier = self.votes(run, report).into_iter().find(|vote| {
            vote.voter.is(&voter) && demanding().all(|(name, rule)| scale((name, rule)).is_fresh(vote))
        });
        match earlier.filter(|_| demanding().next().is_some()) {
            Some(earlier) => Err(Refusal(format!(
                "you approved {} at {}, and nobody counts twice; still needed: {}",
                report.plan_id,
                earlier.at,
                self.approvals_needed().join("; ")
            ))),
            None => Ok(()),
        }
    }

    /// The same signature, with the name by which the teams call whoever signed.
    pub(in crate::decide) fn with_name(&self, by: &Signed) -> Signed {
        match Voter::of(by, &self.teams) {
            Voter::Person(person) => Signed { who: person.name, ..by.clone() },
            Voter::TokenHolder | Voter::Stranger(_) => by.clone(),
        }
    }

    /// The rule by which the current run's plan may not be applied at this time, as what is waited for.
    pub(in crate::decide) fn waits_for_window(&self) -> Option<Waiting> {
        let plan = self.run.as_ref()?.plan.as_ref()?;
        let (name, Closed { windows, opens }) = self.closed(&plan.report)?;
        Some(Waiting::Window { why: format!("{name}.onlyWithin: {windows}"), opens })
    }

    /// What stands in the manifest about who may let a run's plan be applied: `approvePlan: auto; approval`.
    pub(in crate::decide) fn rules_in_force(&self, run: &Run) -> String {
        let Some(spec) = self.definition.as_ref().map(|definition| &definition.spec) else {
            return String::new();
        };
        let approve = match &spec.approve_plan {
            ApprovePlan::Auto => "auto",
            ApprovePlan::Disable => "disable",
            ApprovePlan::Manual => "manual",
            ApprovePlan::Plan { .. } => "a plan's id",
        };
        let rules = run.plan.as_ref().map(|plan| self.rules(&plan.report)).unwrap_or_default();
        let force = spec.force.then(|| "force: true".to_owned());
        let all = [format!("approvePlan: {approve}")].into_iter().chain(force);
        all.chain(rules.into_iter().map(|(name, _)| name)).collect::<Vec<_>>().join("; ")
    }

    fn closed(&self, report: &PlanReport) -> Option<(String, Closed)> {
        let rules = self.rules(report).into_iter();
        rules
            .filter_map(|(name, rule)| Some((name, rule.closed(self.now)?)))
            .max_by_key(|(_, closed)| closed.opens)
    }

    fn rules(&self, report: &PlanReport) -> Vec<(String, ApprovalRule)> {
        let rules = self.definition.as_ref().and_then(|definition| definition.spec.approval.as_ref());
        let of_plan = rules.map(|rules| rules.of_plan(report.counts)).unwrap_or_default();
        of_plan.into_iter().map(|(name, rule)| (name, rule.clone())).collect()
    }

    fn scale<'a>(&self, name: &'a str, rule: &'a ApprovalRule, authors: &'a BTreeSet<Identity>) -> Scale<'a> {
        Scale { name, rule, authors, now: self.now }
    }

    /// The approvals of a run's plan: what people decided, the newest of each first; whoever approved the drift that it
    /// puts right; whoever named the plan in the manifest, where their host vouches for them.
    fn votes(&self, run: &Run, report: &PlanReport) -> Vec<Vote> {
        let decided = run.decisions.iter().rev().filter(|decision| {
            decision.verdict == DecisionVerdict::Approve && decision.content == report.content
        });
        let decided = decided.map(|decision| &decision.by);
        let drift = run.asked_by.iter().filter(|_| run.expects == Some(report.content));
        let in_manifest = self
            .definition
            .iter()
            .filter(|definition| {
                definition.author_identity.is_some() && self.manifest_names(&report.plan_id, report.content)
            })
            .map(|definition| self.signed_by_manifest(definition));
        let vote = |by: &Signed| Vote { voter: Voter::of(by, &self.teams), at: by.at };
        let in_manifest: Vec<Vote> = in_manifest.map(|by| vote(&by)).collect();
        decided.chain(drift).map(vote).chain(in_manifest).collect()
    }
}

/// Who wrote, committed or pushed what a run would apply. A run on what was last applied brings nothing new.
fn authors(run: &Run) -> BTreeSet<Identity> {
    let on_applied = run.kind == RunKind::Drift || run.expects.is_some();
    let of_head = Identity::of_author(&run.commit.author).filter(|_| !on_applied);
    run.authors.iter().cloned().chain(of_head).collect()
}
