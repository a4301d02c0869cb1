//! Due slots: the times under which a record that stays due is woken, one a minute, without remembering anything.

use yuba_core::time::{Span, Timestamp};

/// How long a record stays due before it is woken again.
const AGAIN: Span = Span::minutes(1);

/// The slot that a record due since `due` falls into now: `due` itself, or a whole number of minutes later.
///
/// Never later than `now`, never earlier than `due`: a record whose due time has moved past the slot has been handled.
pub(crate) fn slot(due: Timestamp, now: Timestamp) -> Timestamp {
    let waited = now.since(due).0;
    due + Span(waited - waited % AGAIN.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_that_stays_due_gets_one_slot_a_minute() {
        let due = Timestamp(1_000);
        for (now, expected) in [(1_000, 1_000), (60_999, 1_000), (61_000, 61_000), (200_000, 181_000)] {
            assert_eq!(slot(due, Timestamp(now)), Timestamp(expected), "at {now}");
        }
    }
}
