//! What a decision adds to the stack's audit trail, told from what it changed: so nothing that matters can be decided and
//! not be written down.

use super::draft::Draft;
use crate::attempt::Attempt;
use crate::audit::{AuditAction, AuditEntry, AuditOutcome, AuditedPlan, Deed};
use crate::id::{AuditChain, Phase, RunId};
use crate::request::{Adoption, Ask, Decision, DecisionVerdict, Outcome, Request, Signed};
use crate::run::{AttemptEnd, FailureClass, Run};

impl Draft {
    /// Puts what was decided behind the stack's chain, in the order in which it happened.
    pub(super) fn write_trail(&mut self) -> Vec<AuditEntry> {
        let deeds: Vec<Deed> = self.ended_apply().into_iter().collect();
        let mut entries: Vec<AuditEntry> = deeds.into_iter().map(|deed| self.append(deed)).collect();
        if let Some(deed) = self.decided_request() {
            let entry = self.append(deed);
            if let Some(request) = &mut self.request {
                request.entry = Some(entry.number);
            }
            entries.push(entry);
        }
        let deeds: Vec<Deed> = self.approvals_by_manifest().into_iter().chain(self.started_apply()).collect();
        entries.extend(deeds.into_iter().map(|deed| self.append(deed)));
        entries
    }

    fn append(&mut self, deed: Deed) -> AuditEntry {
        let chain = AuditChain::Stack(self.stack.id);
        AuditEntry::append(&mut self.stack.audit, chain, deed)
    }

    /// The request, if this decision settled it or a door refused it before.
    fn decided_request(&self) -> Option<Deed> {
        let request = self.request.as_ref().filter(|request| request.entry.is_none())?;
        let action = request.ask.action()?;
        let current = self.before.1.as_ref();
        let (outcome, detail, run) = match &request.outcome {
            Outcome::Pending => return None,
            Outcome::Done { message, run, .. } => {
                (AuditOutcome::Done, message, run.or(current.map(|run| run.id)))
            }
            Outcome::Refused { message } => (AuditOutcome::Refused, message, current.map(|run| run.id)),
        };
        let planned = current.filter(|run| run.plan.is_some()).or(self.drifted.as_ref());
        let planned = planned.filter(|_| is_about_a_plan(&request.ask));
        Some(Deed {
            about: about(request),
            outcome,
            run,
            detail: detail.clone(),
            rule: planned.map(|run| self.rules_in_force(run)).unwrap_or_default(),
            plan: planned.and_then(audited),
            ..self.deed(self.with_name(&request.by), action)
        })
    }

    /// Approvals that a manifest gave by naming the plan.
    fn approvals_by_manifest(&self) -> Vec<Deed> {
        let Some(run) = &self.run else { return Vec::new() };
        let known = |decision: &Decision| {
            let before = self.before.1.as_ref();
            before.is_some_and(|before| before.decisions.contains(decision))
        };
        let asked = self.request.as_ref().map(|request| self.with_name(&request.by));
        let is_new = |decision: &&Decision| {
            decision.verdict == DecisionVerdict::Approve
                && Some(&decision.by) != asked.as_ref()
                && !known(decision)
        };
        let deed = |decision: &Decision| Deed {
            detail: "the manifest names the plan".to_owned(),
            ..self.deed_of_plan(decision.by.clone(), AuditAction::Approve, run)
        };
        run.decisions.iter().filter(is_new).map(deed).collect()
    }

    /// An apply that was issued.
    fn started_apply(&self) -> Option<Deed> {
        let attempt = self.attempt.as_ref().filter(|attempt| attempt.id.phase == Phase::Apply)?;
        if self.before.2.as_ref().is_some_and(|before| before.id == attempt.id) {
            return None;
        }
        let run = self.run.as_ref()?;
        let detail = format!("attempt {}: {}", attempt.id, Self::allowed_by(run));
        Some(Deed { detail, ..self.deed_of_plan(self.yuba(), AuditAction::ApplyStarted, run) })
    }

    /// An apply that ended.
    fn ended_apply(&self) -> Option<Deed> {
        let before: &Attempt = self.before.2.as_ref()?;
        let attempt = before.id;
        if attempt.phase != Phase::Apply {
            return None;
        }
        let run = self.run_after(attempt.run)?;
        let end = run.attempts.iter().find(|note| note.id == attempt)?.ended.as_ref()?;
        let (outcome, how) = ended(end, run);
        let detail = format!("attempt {attempt}: {how}");
        Some(Deed { outcome, detail, ..self.deed_of_plan(self.yuba(), AuditAction::ApplyEnded, run) })
    }

    fn run_after(&self, id: RunId) -> Option<&Run> {
        self.ended.iter().chain(&self.run).find(|run| run.id == id)
    }

    fn deed_of_plan(&self, by: Signed, action: AuditAction, run: &Run) -> Deed {
        let (rule, plan) = (self.rules_in_force(run), audited(run));
        Deed { run: Some(run.id), rule, plan, ..self.deed(by, action) }
    }

    fn deed(&self, by: Signed, action: AuditAction) -> Deed {
        Deed {
            at: self.now,
            stack: Some(self.stack.name.clone()),
            by,
            action,
            about: String::new(),
            outcome: AuditOutcome::Done,
            detail: String::new(),
            rule: String::new(),
            run: None,
            plan: None,
        }
    }

    fn yuba(&self) -> Signed {
        let (who, from) = ("yuba".to_owned(), "yuba".to_owned());
        Signed { who, at: self.now, from, message: String::new(), identity: None }
    }
}

fn audited(run: &Run) -> Option<AuditedPlan> {
    let report = &run.plan.as_ref()?.report;
    let (id, revision) = (report.plan_id.clone(), run.revision.clone());
    Some(AuditedPlan { id, revision, content: report.content, file: report.file })
}

fn is_about_a_plan(ask: &Ask) -> bool {
    matches!(ask, Ask::Approve { .. } | Ask::Reject | Ask::IgnoreDrift { .. } | Ask::AcknowledgeDrift)
}

/// What a request is about, where its action does not say it.
fn about(request: &Request) -> String {
    match &request.ask {
        Ask::Approve { plan, digest } => {
            let plan = plan.as_ref().map(ToString::to_string).unwrap_or_default();
            digest.as_ref().map_or(plan.clone(), |digest| format!("{plan}@{digest}"))
        }
        Ask::IgnoreDrift { hours } => format!("{hours} hours"),
        Ask::Unlock { lock } => format!("lock {lock}"),
        Ask::Recover { run } | Ask::Cancel { run: Some(run) } => format!("run {run}"),
        Ask::Adopt(Adoption::New) => "a new state".to_owned(),
        Ask::Adopt(Adoption::Imported) => "a state file".to_owned(),
        Ask::Adopt(Adoption::From(stack)) => format!("the state of stack {stack}"),
        _ => String::new(),
    }
}

/// How an attempt ended, without what its engine wrote: that may hold values.
fn ended(end: &AttemptEnd, run: &Run) -> (AuditOutcome, String) {
    match end.how.split(':').next() {
        Some("reported") => (AuditOutcome::Done, "applied".to_owned()),
        Some("failed") => {
            let class = run.failure.as_ref().map_or(FailureClass::StalePlan, |failure| failure.class);
            let class = serde_json::to_value(class).ok();
            let class = class.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default();
            (AuditOutcome::Failed, format!("failed ({class})"))
        }
        how => (AuditOutcome::Failed, how.unwrap_or_default().to_owned()),
    }
}
