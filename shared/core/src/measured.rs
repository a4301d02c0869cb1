//! Numbers of what decisions ended, from the records' own times: runs by outcome, time per phase, attempts that fell silent.

use std::collections::BTreeMap;

use crate::attempt::{Attempt, AttemptState};
use crate::id::Phase;
use crate::run::{AttemptNote, Run, RunState};
use crate::time::{Span, Timestamp};

/// How long a claimed attempt may say nothing before it counts as silent; one that is well is heard of every few seconds.
pub const SILENT_AFTER: Span = Span::minutes(5);

/// What one decision ended, and whom it found silent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measured {
    /// The states that runs ended in.
    pub runs: Vec<RunState>,
    /// Attempts that ended: their phase, and how long it took from when the attempt was issued until its end was heard of.
    pub phases: Vec<(Phase, Span)>,
    /// For how long the claimed attempt that is out has said nothing, where that is [`SILENT_AFTER`] or more.
    pub silence: Option<Span>,
}

impl Measured {
    /// What ended between the run as it was read and the runs as they were written.
    pub fn ended(before: Option<&Run>, after: &[Run]) -> Self {
        let known = |run: &Run| before.filter(|before| before.id == run.id);
        let has_ended =
            |run: &&Run| run.state.is_terminal() && known(run).is_none_or(|known| !known.state.is_terminal());
        let notes = after.iter().flat_map(|run| run.attempts.iter().map(move |note| (known(run), note)));
        Self {
            runs: after.iter().filter(has_ended).map(|run| run.state).collect(),
            phases: notes.filter_map(|(known, note)| took(known, note)).collect(),
            silence: None,
        }
    }

    /// The same, of the attempt that is out at a moment.
    #[must_use]
    pub fn with_silence(mut self, attempt: Option<&Attempt>, now: Timestamp) -> Self {
        let out = attempt.filter(|attempt| attempt.state == AttemptState::Claimed);
        let heard = out.map(|attempt| attempt.heard_at.or(attempt.claimed_at).unwrap_or(attempt.issued_at));
        self.silence = heard.map(|heard| now.since(heard)).filter(|silence| *silence >= SILENT_AFTER);
        self
    }
}

/// The phase of an attempt that has ended since its run was read, and how long it took.
fn took(known: Option<&Run>, note: &AttemptNote) -> Option<(Phase, Span)> {
    let ended = note.ended.as_ref()?;
    let before = known.and_then(|run| run.attempts.iter().find(|before| before.id == note.id));
    let ended_before = before.is_some_and(|before| before.ended.is_some());
    (!ended_before).then(|| (note.id.phase, ended.at.since(note.since)))
}

/// Sums of what was measured since a process began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many runs ended in each state.
    pub runs: BTreeMap<RunState, u64>,
    /// How many attempts of each phase ended, and how long they took together.
    pub phases: BTreeMap<Phase, (u64, Span)>,
}

impl Tally {
    /// Adds what was measured.
    pub fn add(&mut self, measured: &Measured) {
        for state in &measured.runs {
            *self.runs.entry(*state).or_default() += 1;
        }
        for (phase, span) in &measured.phases {
            let (count, sum) = self.phases.entry(*phase).or_insert((0, Span::ZERO));
            *count += 1;
            *sum = Span(sum.0.saturating_add(span.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An applied run: its plan took 3,123 ms, its apply 1,848 ms.
    fn applied() -> Run {
        serde_json::from_str(include_str!("../tests/golden/run.v1.json")).unwrap()
    }

    /// The same while the apply was out.
    fn applying() -> Run {
        let mut run = Run { state: RunState::Applying, ended_at: None, ..applied() };
        run.attempts[1].ended = None;
        run
    }

    #[test]
    fn what_ended_with_a_decision_counts_once() {
        let (before, after) = (applying(), [applied()]);
        let measured = Measured::ended(Some(&before), &after);
        assert_eq!(measured.runs, [RunState::Applied]);
        assert_eq!(measured.phases, [(Phase::Apply, Span(1_848))], "the plan had ended before");
        assert_eq!(Measured::ended(Some(&after[0]), &after), Measured::default());
        assert_eq!(Measured::ended(Some(&before), std::slice::from_ref(&before)), Measured::default());
        assert_eq!(Measured::ended(Some(&before), &[]), Measured::default());
    }

    #[test]
    fn a_run_that_was_made_and_ended_at_once_counts_beside_the_one_before() {
        let other =
            Run { attempts: Vec::new(), id: crate::id::RunId(ulid::Ulid::from_parts(9, 9)), ..applied() };
        let measured = Measured::ended(Some(&applying()), &[applied(), other]);
        assert_eq!(measured.runs, [RunState::Applied, RunState::Applied]);
    }

    #[test]
    fn a_claimed_attempt_is_silent_after_a_while() {
        let golden = include_str!("../tests/golden/attempt.v1.json");
        let attempt: Attempt = serde_json::from_str(golden).unwrap();
        let heard = Timestamp(1_000_000);
        let attempt = Attempt { state: AttemptState::Claimed, heard_at: Some(heard), ..attempt };
        let silence = |attempt: &Attempt, span: Span| {
            Measured::default().with_silence(Some(attempt), heard + span).silence
        };
        assert_eq!(silence(&attempt, Span(SILENT_AFTER.0 - 1)), None);
        assert_eq!(silence(&attempt, SILENT_AFTER), Some(SILENT_AFTER));
        let reported = Attempt { state: AttemptState::Reported, ..attempt };
        assert_eq!(silence(&reported, Span::hours(1)), None);
    }

    #[test]
    fn a_tally_adds_up() {
        let mut tally = Tally::default();
        for _ in 0..2 {
            tally.add(&Measured::ended(Some(&applying()), &[applied()]));
        }
        assert_eq!(tally.runs, BTreeMap::from([(RunState::Applied, 2)]));
        assert_eq!(tally.phases, BTreeMap::from([(Phase::Apply, (2, Span(3_696)))]));
    }
}
