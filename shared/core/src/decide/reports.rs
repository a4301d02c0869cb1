//! What a plan, an apply or a failure means for the run and the stack.

use super::draft::Draft;
use crate::drift::{drift_sentence, drifted_resources};
use crate::effect::Effect;
use crate::event::EventKind;
use crate::id::{AttemptId, SecretName};
use crate::plan::summary::PlanReport;
use crate::request::Signed;
use crate::run::{Failure, FailureClass, Run, RunKind, RunState, StoredPlan};
use crate::schedule::backoff;
use crate::source::Reason;
use crate::spec::{ApprovePlan, DriftMode};
use crate::stack::{Applied, AskedRun, DriftState, Ready, Retry};
use crate::trouble::{MANY, Trouble, TroubleNotice, signature};

impl Draft {
    /// A plan is stored.
    pub(super) fn hear_plan(&mut self, attempt: AttemptId, report: &PlanReport) {
        let at = self.now;
        self.stack.checked_at = Some(at);
        let stored = StoredPlan { attempt, report: report.clone(), at };
        self.on_run(|run| {
            run.plan = Some(stored);
        });
        self.backend_is_mended();
        self.stack.holds_resources = !report.state_was_empty;
        self.remember_plan(&report.plan_id, report.content);
        let Some(run) = self.run.clone() else { return };
        if run.cancelled_by.is_some() {
            self.publish(EventKind::RunDropped, "The run was cancelled.");
            return self.end_run(RunState::Cancelled);
        }
        let had_failed = self.stack.retry.is_some();
        self.forget_failures();
        match run.kind {
            RunKind::Drift => {
                if had_failed {
                    self.publish(EventKind::StackRecovered, "The check that failed before went well.");
                }
                self.hear_drift(&run, report);
            }
            RunKind::Preview => self.end_planned(),
            RunKind::Tracked | RunKind::Destroy => self.hear_wanted_plan(&run, report),
        }
    }

    /// A plan that is to bring the stack to what Git wants.
    fn hear_wanted_plan(&mut self, run: &Run, report: &PlanReport) {
        if self.must_be_adopted(run, report) {
            self.on_run(|run| run.state = RunState::AwaitingAdoption);
            return self.publish(EventKind::AdoptionRequested, self.adoption_sentence());
        }
        if run.spec.planned_only_because().is_some() {
            return self.end_planned();
        }
        if !report.has_changes && !self.owes_outputs(run, report) {
            self.settle(run);
            self.publish(EventKind::RunUnchanged, "Plan no changes.");
            return self.end_run(RunState::Unchanged);
        }
        self.on_run(|run| run.state = RunState::AwaitingApproval);
    }

    fn end_planned(&mut self) {
        self.publish(EventKind::RunPlanned, "A plan was made that is not to be applied.");
        self.end_run(RunState::Planned);
    }

    /// Whether outputs are to be written that an unchanged plan alone would not write: applying it does.
    fn owes_outputs(&self, run: &Run, report: &PlanReport) -> bool {
        let written = &self.stack.outputs_written;
        run.kind == RunKind::Tracked
            && !report.state_was_empty
            && run.spec.write_outputs.is_some()
            && run.spec.write_outputs != *written
    }

    /// A drift check came back.
    fn hear_drift(&mut self, run: &Run, report: &PlanReport) {
        if run.spec.approve_plan == ApprovePlan::Disable && self.stack.planned.is_none() {
            self.stack.planned = Some(run.wanted.clone());
        }
        if !report.has_changes {
            self.stack.remediated = None;
            self.drift_is_gone();
            return self.end_run(RunState::Unchanged);
        }
        let before = self.stack.drift.take();
        let known = before.as_ref().is_some_and(|drift| drift.content == report.content);
        let resources = drifted_resources(report);
        self.stack.drift = Some(DriftState {
            run: run.id,
            since: before.as_ref().map_or(self.now, |drift| drift.since),
            resources,
            content: report.content,
            escalated: before.as_ref().is_some_and(|drift| drift.escalated),
            checks: before.map_or(0, |drift| drift.checks).saturating_add(1),
        });
        if self.is_drift_told(report.content, known) {
            self.publish(EventKind::DriftDetected, drift_sentence(resources));
        }
        self.escalate_drift();
        self.remediate(run, report);
        let ended = self.run.clone();
        self.end_run(RunState::Drifted);
        self.drifted = ended;
    }

    /// Asks for a run that puts drift right, where the mode and the drift allow it.
    fn remediate(&mut self, run: &Run, report: &PlanReport) {
        let spec = self.definition.as_ref().map_or(&run.spec, |definition| &definition.spec);
        if spec.drift.mode != DriftMode::Remediate || spec.approve_plan != ApprovePlan::Auto {
            return;
        }
        if spec.planned_only_because().is_some() || self.stack.applied.is_none() {
            return;
        }
        if let Some(why) = &report.remediation_refused {
            return self.note(format!("drift is reported, not put right: {why}"));
        }
        if self.stack.remediated == Some(report.content) {
            return self.note(
                "drift came back unchanged after it was put right; it is reported, not put right again",
            );
        }
        self.stack.remediated = Some(report.content);
        self.stack.asked = Some(AskedRun {
            kind: RunKind::Tracked,
            by: Signed {
                who: "yuba".to_owned(),
                at: self.now,
                from: "yuba".to_owned(),
                message: String::new(),
                identity: None,
            },
            because: Reason::Remediation,
            expects: Some(report.content),
        });
    }

    /// The plan was applied.
    pub(super) fn hear_apply(&mut self, attempt: AttemptId, notices: &[String]) {
        let Some(run) = self.run.clone() else { return };
        self.forget_failures();
        self.stack.checked_at = Some(self.now);
        self.settle(&run);
        for notice in notices {
            self.note(notice.clone());
        }
        if let Some(write) = run.spec.write_outputs.clone().filter(|_| run.kind == RunKind::Tracked) {
            let (secret, outputs) = (write.name.clone(), write.outputs.clone());
            self.effect(Effect::WriteOutputs { attempt, secret, outputs });
            self.stack.outputs_written = Some(write);
        }
        self.publish(EventKind::RunApplied, format!("Applied successfully: {}", run.revision));
        self.end_run(RunState::Applied);
    }

    /// Outputs could not be written: the stack is not ready until they are, as with tofu-controller. The next run of it
    /// owes them again.
    pub(super) fn hear_outputs_refused(&mut self, secret: &SecretName, why: &str) {
        self.stack.outputs_written = None;
        let message = format!("Outputs were not written to secret {secret}: {why}");
        self.stack.settled.ready = Ready::False;
        self.stack.settled.status.clone_from(&message);
        self.publish(EventKind::EffectFailed, message);
    }

    /// Reality is what the run wanted.
    fn settle(&mut self, run: &Run) {
        self.drift_is_gone();
        let destroyed = run.kind == RunKind::Destroy;
        self.stack.holds_resources &= !destroyed;
        self.stack.applied = Some(Applied {
            run: run.id,
            revision: run.revision.clone(),
            tree: run.tree.clone(),
            observation: run.observation,
            wanted: run.wanted.clone(),
            spec: run.spec.clone(),
            commit: run.commit.clone(),
            at: self.now,
            destroyed,
        });
    }

    /// The run failed; what failed by itself is tried again by itself.
    pub(super) fn fail(&mut self, failure: Failure) {
        let Some(run) = self.run.clone() else { return };
        let retry = self.retry_after(&failure, &run);
        self.note_trouble(&retry);
        self.stack.retry = Some(retry);
        self.publish(EventKind::RunFailed, failure.message.clone());
        self.on_run(|run| run.failure = Some(failure));
        self.end_run(RunState::Failed);
    }

    fn retry_after(&mut self, failure: &Failure, run: &Run) -> Retry {
        let before = self.stack.retry.as_ref();
        let failures = before.map_or(0, |retry| retry.failures).saturating_add(1);
        let left_by =
            if failure.errored_state { Some(run.id) } else { before.and_then(|retry| retry.left_by) };
        let unsaved = failure.errored_state || self.is_unsaved();
        let refused = failure.class == FailureClass::Refused && self.backend_refused();
        let waits = refused || !failure.class.mends_by_itself() || unsaved && !self.pushes_state();
        let due = (!waits).then(|| self.now + backoff(run.spec.retry_interval, failures));
        let signature = signature(failure, &self.stack.name);
        Retry { failures, class: failure.class, kind: run.kind, due, signature, unsaved, left_by }
    }
}

impl Draft {
    /// What failed before did not fail now.
    fn forget_failures(&mut self) {
        let Some(Retry { due, signature, .. }) = self.stack.retry.take() else { return };
        self.trouble = None;
        let Some(run) = self.run.as_ref().map(|run| run.id) else { return };
        if due.is_some() {
            let noted = Effect::NoteTrouble { signature: signature.clone() };
            self.stack.outbox.retain(|pending| pending.effect != noted);
            self.effect(Effect::ClearTrouble { signature, run });
        }
    }

    /// Notes the trouble of a failure, each time: others may have let this stack go since it was noted last.
    fn note_trouble(&mut self, retry: &Retry) {
        let same = self.stack.retry.as_ref().is_some_and(|before| before.signature == retry.signature);
        if !same {
            self.forget_failures();
        }
        if retry.due.is_some() {
            self.effect(Effect::NoteTrouble { signature: retry.signature.clone() });
        }
    }

    /// Gives notice of a trouble, unless that was done.
    pub(super) fn notice_trouble(&mut self) {
        let owed = |trouble: &Trouble| trouble.stacks >= MANY && trouble.probes && !trouble.noticed;
        let (Some(retry), Some(_)) =
            (&self.stack.retry, self.trouble.as_ref().filter(|trouble| owed(trouble)))
        else {
            return;
        };
        let signature = retry.signature.clone();
        self.notice = Some(TroubleNotice { signature, stack: self.stack.id, at: self.now });
        let message = format!(
            "{MANY} or more stacks fail of the same error; one goes on trying, the others' retries wait until one succeeds."
        );
        self.publish(EventKind::RetriesPaused, message);
    }
}
