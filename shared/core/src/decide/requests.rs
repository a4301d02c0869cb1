//! What people ask for. Each request ends in an outcome: done, or refused with the reason and what to do.

use super::approval::{content_starts_with, is_first_plan};
use super::draft::Draft;
use crate::attempt::{AttemptState, StopOrder};
use crate::effect::Effect;
use crate::event::EventKind;
use crate::id::{PlanId, RunId};
use crate::plan::summary::PlanReport;
use crate::request::{Ask, Decision, DecisionVerdict, Outcome, Request, Signed};
use crate::run::{RunKind, RunState};
use crate::source::Reason;
use crate::spec::ApprovePlan;
use crate::stack::AskedRun;

const DESTROYED: &str =
    "the stack was destroyed, so nothing of it can drift; `yuba replan` plans to make it anew";

const VANISHED: &str = "the stack vanished from the manifests, and can only be destroyed: `yuba destroy`";

/// Refused, with why and what to do.
pub(super) struct Refusal(pub(super) String);

/// Done, with what happened.
pub(super) type Answer = Result<String, Refusal>;

pub(super) fn refuse(message: impl Into<String>) -> Answer {
    Err(Refusal(message.into()))
}

impl Draft {
    /// Decides the request that the message names; one that was decided before is left alone.
    pub(super) fn hear_request(&mut self) {
        let Some(request) = self.request.clone() else { return };
        if request.outcome != Outcome::Pending {
            return self.note("the request was decided before");
        }
        let answer = self.decide_request(&request);
        // What somebody asks to be looked at concerns no run that ended before.
        let last = self.stack.latest.filter(|_| request.ask != Ask::Reconcile);
        let run = self.run.as_ref().map(|run| run.id).or(last);
        let outcome = match answer {
            Ok(message) => Outcome::Done { message, run, run_to_come: false },
            Err(Refusal(message)) => Outcome::Refused { message },
        };
        let word = match &outcome {
            Outcome::Pending => "pending".to_owned(),
            Outcome::Done { message, .. } => message.clone(),
            Outcome::Refused { message } => format!("refused: {message}"),
        };
        self.note(format!("request {} by {}: {word}", request.id, request.by.who));
        self.answer(outcome);
        if request.reply.is_some() {
            self.effect(Effect::Reply { request: request.id });
        }
    }

    fn decide_request(&mut self, request: &Request) -> Answer {
        if let Some(seen) = &request.seen {
            self.refuse_unless_seen(seen)?;
        }
        let by = &self.with_name(&request.by);
        match &request.ask {
            Ask::Approve { plan, digest } => self.approve(by, plan.as_ref(), digest.as_deref()),
            Ask::Reject => self.reject(by),
            Ask::Reconcile => self.reconcile(by),
            Ask::Replan => self.replan(by),
            Ask::CheckDrift => self.check_drift(by),
            Ask::IgnoreDrift { hours } => self.ignore_drift(by, *hours),
            Ask::AcknowledgeDrift => self.acknowledge_drift(by),
            Ask::Destroy => {
                self.refuse_shared_state()?;
                self.refuse_handed_over()?;
                self.refuse_unsaved()?;
                let because = Reason::Asked(format!("{} asked to destroy the stack", by.who));
                let made = self.ask_run(by, RunKind::Destroy, because)?;
                Ok(format!(
                    "{made}; it plans the destruction, and nothing is destroyed before somebody approves that plan"
                ))
            }
            Ask::Suspend => Ok(self.suspend(by)),
            Ask::Resume => Ok(self.resume()),
            Ask::Cancel { run } => self.cancel(by, *run),
            Ask::Adopt(adoption) => self.adopt(by, *adoption),
            Ask::Unlock { lock } => self.unlock(by, lock),
            Ask::Recover { run } => self.recover(by, *run),
        }
    }

    fn approve(&mut self, by: &Signed, plan: Option<&PlanId>, digest: Option<&str>) -> Answer {
        match self.run.as_ref().map(|run| (run.state, run.number, run.plan.clone())) {
            Some((RunState::AwaitingApproval, _, Some(stored))) => {
                if self.run.as_ref().is_some_and(|run| run.kind == RunKind::Destroy) {
                    self.refuse_shared_state()?;
                    refuse_unnamed_destruction(&stored.report, plan, digest)?;
                }
                self.check_plan(&stored.report, plan, digest)?;
                if let Some(run) = &self.run {
                    self.refuse_approver(by, run, &stored.report)?;
                }
                self.decided(by, DecisionVerdict::Approve, &stored.report);
                Ok(format!("{} is approved; {}", stored.report.plan_id, self.after_approval()))
            }
            Some((RunState::AwaitingAdoption, ..)) => refuse(
                "the first plan waits for a word on its state: say `yuba adopt STACK` first (--new, --state FILE or --from STACK)",
            ),
            Some((state, number, _)) => {
                refuse(format!("nothing waits for approval: run {number} is {state}"))
            }
            None => self.approve_drift(by, plan, digest),
        }
    }

    /// Approving a drifted run starts a new run, whose content must be the same.
    fn approve_drift(&mut self, by: &Signed, plan: Option<&PlanId>, digest: Option<&str>) -> Answer {
        let Some(report) = self.standing_drift().cloned() else {
            return refuse(format!("nothing waits for approval: {}", self.stack.shown.status));
        };
        self.check_plan(&report, plan, digest)?;
        if self.stack.applied.is_none() {
            return refuse("the stack's manifest says approvePlan: disable; nothing of it is applied");
        }
        self.refuse_unsaved()?;
        if let Some(run) = &self.drifted {
            self.refuse_approver(by, run, &report)?;
        }
        self.stack.asked = Some(AskedRun {
            kind: RunKind::Tracked,
            by: by.clone(),
            because: Reason::DriftApproved,
            expects: Some(report.content),
        });
        Ok(format!(
            "{} is approved; it is planned once more and applied if nothing else changed",
            report.plan_id
        ))
    }

    fn standing_drift(&self) -> Option<&PlanReport> {
        self.stack.drift.as_ref()?;
        self.drifted.as_ref().and_then(|run| run.plan.as_ref()).map(|plan| &plan.report)
    }

    fn reject(&mut self, by: &Signed) -> Answer {
        let waiting = [RunState::AwaitingApproval, RunState::AwaitingAdoption];
        let stored =
            self.run.as_ref().filter(|run| waiting.contains(&run.state)).and_then(|run| run.plan.clone());
        let Some(stored) = stored else {
            return refuse(format!("nothing waits for a decision: {}", self.stack.shown.status));
        };
        self.refuse_stranger(by)?;
        self.decided(by, DecisionVerdict::Reject, &stored.report);
        self.end_run(RunState::Discarded);
        Ok(format!("{} is rejected; nothing is applied until something changes", stored.report.plan_id))
    }

    /// Writes a decision down; a person's second of the same kind on the same content takes the first one's place.
    fn decided(&mut self, by: &Signed, verdict: DecisionVerdict, report: &PlanReport) {
        let decision = Decision { verdict, content: report.content, by: by.clone() };
        self.on_run(|run| {
            let same = |old: &Decision| {
                old.verdict == verdict && old.content == report.content && old.by.who == by.who
            };
            run.decisions.retain(|old| !same(old));
            run.decisions.push(decision);
        });
        self.publish(EventKind::PlanDecided, format!("{} {} {}.", by.who, verdict.past(), report.plan_id));
    }

    fn reconcile(&mut self, by: &Signed) -> Answer {
        if self.has_vanished() {
            return Ok(format!("nothing to reconcile: {VANISHED}"));
        }
        let changed = self.wanted().is_some_and(|wanted| self.stack.planned.as_ref() != Some(&wanted));
        let failed = self.stack.retry.is_some();
        if let Some(run) = &self.run {
            return Ok(format!("run {} is {} already", run.number, run.state));
        }
        self.refuse_unsaved()?;
        self.refuse_suspended()?;
        if changed {
            return Ok("something changed; a run is made".to_owned());
        }
        if failed || self.stack.applied.is_none() {
            let because = Reason::Asked(format!("{} asked to reconcile", by.who));
            return self.ask_run(by, self.wanted_kind(), because);
        }
        if self.is_destroyed() {
            return Ok(format!("nothing to reconcile: {DESTROYED}"));
        }
        self.check_drift(by)
    }

    pub(super) fn has_vanished(&self) -> bool {
        self.definition.as_ref().is_some_and(|definition| definition.vanished.is_some())
    }

    fn is_destroyed(&self) -> bool {
        self.stack.applied.as_ref().is_some_and(|applied| applied.destroyed)
    }

    fn wanted_kind(&self) -> RunKind {
        let destroy = self.definition.as_ref().is_some_and(|definition| definition.spec.destroy);
        if destroy { RunKind::Destroy } else { RunKind::Tracked }
    }

    fn check_drift(&mut self, by: &Signed) -> Answer {
        if self.has_vanished() {
            return refuse(VANISHED);
        }
        if self.is_destroyed() {
            return refuse(DESTROYED);
        }
        if let Some(run) = self.run.as_ref().filter(|run| run.state != RunState::Planning) {
            return refuse(format!("run {} is {}; its plan shows what drifted", run.number, run.state));
        }
        let approve = self.definition.as_ref().map(|definition| &definition.spec.approve_plan);
        if self.stack.applied.is_none() && approve != Some(&ApprovePlan::Disable) {
            return refuse("nothing of the stack was applied yet; there is nothing to compare reality with");
        }
        self.refuse_unsaved()?;
        let because = Reason::Asked(format!("{} asked for a drift check", by.who));
        self.ask_run(by, RunKind::Drift, because)
    }

    /// Asks for a run. One that only waits gives way; one that acts goes on, and the new one comes after it.
    pub(super) fn ask_run(&mut self, by: &Signed, kind: RunKind, because: Reason) -> Answer {
        if self.has_vanished() && kind != RunKind::Destroy {
            return refuse(VANISHED);
        }
        self.refuse_suspended()?;
        self.stack.asked = Some(AskedRun { kind, by: by.clone(), because, expects: None });
        match self.run.as_ref().map(|run| (run.state, run.number)) {
            None if self.observation.is_none() => Ok("a run is made once its source was read".to_owned()),
            None => Ok("a run is made".to_owned()),
            Some((state @ (RunState::Planning | RunState::Applying), number)) => {
                Ok(format!("run {number} is {state}; the run is made when it has ended"))
            }
            Some((_, number)) => {
                self.supersede();
                Ok(format!("run {number} is superseded; a new run is made"))
            }
        }
    }

    pub(super) fn refuse_suspended(&self) -> Result<(), Refusal> {
        if self.definition.as_ref().is_some_and(|definition| definition.spec.suspend) {
            return Err(Refusal(
                "the manifest suspends the stack: set `suspend: false` there first".to_owned(),
            ));
        }
        match &self.stack.suspended {
            Some(by) => Err(Refusal(format!("{} suspended the stack: say `yuba resume` first", by.who))),
            None => Ok(()),
        }
    }

    fn suspend(&mut self, by: &Signed) -> String {
        self.stack.suspended = Some(by.clone());
        "suspended: no new run is made; one that is under way goes on".to_owned()
    }

    fn resume(&mut self) -> String {
        let by_manifest = self.definition.as_ref().is_some_and(|definition| definition.spec.suspend);
        let by_person = self.stack.suspended.take().is_some();
        match (by_person, by_manifest) {
            (_, true) => "the manifest still suspends the stack: set `suspend: false` there".to_owned(),
            (true, false) => "resumed".to_owned(),
            (false, false) => "nothing was suspended".to_owned(),
        }
    }

    fn cancel(&mut self, by: &Signed, named: Option<RunId>) -> Answer {
        let Some(run) = self.run.clone() else { return refuse("no run is under way") };
        if named.is_some_and(|named| named != run.id) {
            return refuse(format!("that run has ended; the run under way is {}", run.id));
        }
        self.on_run(|run| run.cancelled_by = Some(by.clone()));
        self.forget_backend_first();
        match self.attempt.as_mut() {
            Some(attempt) if attempt.state == AttemptState::Claimed => {
                attempt
                    .stop
                    .get_or_insert(StopOrder { at: self.now, why: format!("{} cancelled the run", by.who) });
                Ok(format!("run {} is asked to stop", run.number))
            }
            _ => {
                self.end_attempt(format!("cancelled by {}", by.who));
                self.publish(EventKind::RunDropped, format!("{} cancelled the run.", by.who));
                self.end_run(RunState::Cancelled);
                Ok(format!("run {} is cancelled", run.number))
            }
        }
    }
}

impl Draft {
    /// Whether what somebody approves is what waits.
    fn check_plan(
        &self,
        report: &PlanReport,
        plan: Option<&PlanId>,
        digest: Option<&str>,
    ) -> Result<(), Refusal> {
        let current = format!("{}@{}", report.plan_id, report.content.short());
        if let Some(plan) = plan.filter(|plan| **plan != report.plan_id) {
            return Err(Refusal(format!("{plan} is not the plan that waits: that is {current}")));
        }
        match (plan, digest) {
            (_, Some(digest)) if !content_starts_with(report.content, digest) => Err(Refusal(format!(
                "the plan was made again and its content differs from @{digest}: it is {current} now"
            ))),
            (Some(plan), None) if !is_first_plan(&self.stack, plan, report.content) => Err(Refusal(format!(
                "another plan had the id {plan} before; the one that waits is {current}: look at it and approve that"
            ))),
            _ => Ok(()),
        }
    }

    /// What follows an approval now.
    fn after_approval(&self) -> String {
        let needed = self.approvals_needed();
        if !needed.is_empty() {
            return format!("still needed: {}", needed.join("; "));
        }
        let after = if self.is_suspended() {
            "it is applied when the stack is resumed"
        } else if self.paused.is_some() {
            "it is applied when the installation's pause ends"
        } else if self.held_back_by_state().is_some() {
            "it is applied when no other stack names its state"
        } else if self.run.as_ref().is_some_and(|run| run.kind == RunKind::Destroy) {
            "the destruction starts"
        } else {
            "the apply starts"
        };
        after.to_owned()
    }
}

/// Nobody destroys a stack by approving "whatever waits", or many stacks at once: its plan must be named.
fn refuse_unnamed_destruction(
    report: &PlanReport,
    plan: Option<&PlanId>,
    digest: Option<&str>,
) -> Result<(), Refusal> {
    if plan.is_some() || digest.is_some() {
        return Ok(());
    }
    Err(Refusal(format!(
        "what waits is the destruction of the stack, {} to destroy: look at it with `yuba show plan`, and approve it by \
         its name: --plan {}@{}",
        report.counts.delete,
        report.plan_id,
        report.content.short()
    )))
}
