//! What people say to drift that stands: nobody is told of it for a while, or somebody looks after it. And what is done
//! where nobody says anything.

use super::draft::Draft;
use super::requests::{Answer, Refusal};
use crate::drift::drift_sentence;
use crate::event::EventKind;
use crate::id::ContentDigest;
use crate::request::{Decision, DecisionVerdict, Request, Signed};
use crate::run::Run;
use crate::time::Span;

impl Draft {
    /// Nobody is told of the drift that stands, nor is it escalated, for so many hours.
    pub(super) fn ignore_drift(&mut self, by: &Signed, hours: u32) -> Answer {
        let until = by.at + Span::hours(i64::from(hours));
        self.answer_drift(by, DecisionVerdict::Ignore { until })?;
        Ok(format!(
            "nobody is told of this drift until {until}, unless it becomes another; it is looked for as before"
        ))
    }

    /// Somebody looks after the drift that stands: it is not escalated.
    pub(super) fn acknowledge_drift(&mut self, by: &Signed) -> Answer {
        self.answer_drift(by, DecisionVerdict::Acknowledge)?;
        Ok("the drift is acknowledged; it is not escalated while it stays the same".to_owned())
    }

    fn answer_drift(&mut self, by: &Signed, verdict: DecisionVerdict) -> Result<(), Refusal> {
        let Some(content) = self.stack.drift.as_ref().map(|drift| drift.content) else {
            return Err(Refusal(format!("no drift stands: {}", self.stack.shown.status)));
        };
        self.refuse_stranger(by)?;
        self.stack.drift_decision = Some(Decision { verdict, content, by: by.clone() });
        let words = format!("{} {} drift.", by.who, verdict.past());
        self.publish_about(self.shown_drift_run(), EventKind::DriftAnswered, words);
        Ok(())
    }

    /// The run whose message whoever asked had before their eyes; else the one that found the drift last.
    fn shown_drift_run(&self) -> Option<Run> {
        let seen = self.request.as_ref().and_then(|Request { seen, .. }| *seen);
        let named = self.named.iter().find(|run| seen.is_some_and(|seen| seen.run == run.id));
        named.or(self.drifted.as_ref()).cloned()
    }

    /// Whether drift that a check found is to be told: what is new, and what is still there after it was ignored.
    pub(super) fn is_drift_told(&mut self, content: ContentDigest, is_known: bool) -> bool {
        let answer = self.stack.drift_decision.as_ref().filter(|decision| decision.content == content);
        match answer.map(|decision| (decision.verdict, decision.by.who.clone())) {
            Some((DecisionVerdict::Ignore { until }, who)) if until > self.now => {
                self.note(format!("nobody is told of the drift: {who} ignores it until {until}"));
                false
            }
            Some((DecisionVerdict::Ignore { .. }, _)) => {
                self.stack.drift_decision = None;
                true
            }
            _ => !is_known,
        }
    }

    /// Drift that is found again and again, and that nobody answers, becomes critical: once.
    pub(super) fn escalate_drift(&mut self) {
        let (Some(run), Some(drift)) = (&self.run, &self.stack.drift) else { return };
        let spec = self.definition.as_ref().map_or(&run.spec, |definition| &definition.spec);
        if drift.escalated || drift.checks < spec.drift.escalate_after || self.drift_answer().is_some() {
            return;
        }
        let (checks, since) = (drift.checks, drift.since);
        let message = format!(
            "{}, by {checks} checks in a row; it stands since {since}, and nobody has answered it.",
            drift_sentence(drift.resources)
        );
        if let Some(drift) = &mut self.stack.drift {
            drift.escalated = true;
        }
        self.publish(EventKind::DriftEscalated, message);
    }

    /// Drift that was found is gone.
    pub(super) fn drift_is_gone(&mut self) {
        if self.stack.drift.take().is_none() {
            return;
        }
        let is_ignored = |decision: &Decision| matches!(decision.verdict, DecisionVerdict::Ignore { .. });
        self.stack.drift_decision = self.stack.drift_decision.take().filter(is_ignored);
        self.publish(EventKind::DriftResolved, "Drift that was found is gone.");
    }

    /// What somebody answered to the drift that stands, while that is in force.
    pub(super) fn drift_answer(&self) -> Option<&Decision> {
        self.stack.drift_answer(self.now)
    }
}

/// What a status says of the answer to drift.
pub(super) fn answered(decision: &Decision) -> String {
    match decision.verdict {
        DecisionVerdict::Ignore { until } => format!("{} ignores it until {until}", decision.by.who),
        _ => format!("{} looks after it", decision.by.who),
    }
}
