//! Spans and due times: how long things may take, and how they are spread.

use crate::id::StackId;
use crate::time::Span;

/// A plan older than this is made again before it is applied.
pub const PLAN_MAX_AGE: Span = Span::hours(24);
/// How often an attempt that is out is looked after when nothing is heard of it.
pub const WATCH_ATTEMPT: Span = Span::seconds(30);
/// How often a stack that waits for others is looked at when no message wakes it.
pub const LOOK_AGAIN: Span = Span::minutes(5);
/// How long past its bound an attempt may go on before the orchestrator itself asks it to stop.
pub const STOP_GRACE: Span = Span::minutes(2);
/// How long after it was asked to stop an attempt is killed.
pub const KILL_AFTER: Span = Span::minutes(15);
/// How long a task that runs may take to claim.
pub const CLAIM_WITHIN: Span = Span::minutes(10);
/// How many plan attempts a run makes before it fails.
pub const MOST_PLAN_ATTEMPTS: usize = 3;
/// How long a webhook's delivery and what became of it are kept.
pub const DELIVERY_KEPT: Span = Span::hours(30 * 24);
/// How long a request and its outcome are kept; what it did stands in the run for good.
pub const REQUEST_KEPT: Span = Span::hours(90 * 24);
/// The longest wait between two tries.
pub const LONGEST_RETRY: Span = Span::hours(1);

/// The wait after the given number of failures in a row: the first, then doubling, up to an hour.
pub fn backoff(first: Span, failures: u32) -> Span {
    let doublings = failures.saturating_sub(1).min(20);
    let doubled = first.0.max(1000).saturating_mul(1_i64 << doublings);
    Span(doubled.min(LONGEST_RETRY.0.max(first.0)))
}

/// An interval, longer by up to a tenth, by an amount that is the stack's own: stacks of one interval spread out.
pub fn jittered(interval: Span, stack: StackId) -> Span {
    let share = i64::try_from(stack.0.random() % 1000).unwrap_or(0);
    Span(interval.0.saturating_add(interval.0 / 10 * share / 1000))
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;

    #[test]
    fn waits_double_up_to_an_hour() {
        let waits: Vec<String> =
            [1, 2, 3, 4, 30].map(|failures| backoff(Span::seconds(15), failures).to_string()).into();
        assert_eq!(waits, ["15s", "30s", "1m0s", "2m0s", "1h0m0s"]);
        assert_eq!(backoff(Span::hours(2), 3), Span::hours(2), "a longer first wait is kept");
    }

    #[test]
    fn intervals_spread_by_a_tenth_at_most() {
        let interval = Span::minutes(10);
        for random in 0..200 {
            let span = jittered(interval, StackId(Ulid::from_parts(0, random * 7919)));
            assert!(span >= interval && span <= Span::minutes(11), "{span}");
        }
    }
}
