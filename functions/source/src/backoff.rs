//! When a look that failed is tried again.

use yuba_core::source::SourceFailure;
use yuba_core::time::{Span, Timestamp};

/// The first wait after a failure that passes by itself, where the interval is not shorter.
const FIRST: Span = Span::minutes(1);
/// The longest wait after such failures, where the interval is not longer.
const LONGEST: Span = Span::minutes(10);

/// Why a look failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What happened, where, what to do.
    pub message: String,
    /// What can mend it.
    pub mend: Mend,
}

/// What can mend a failed look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mend {
    /// Time.
    Time,
    /// A person, or a push: looking more often than at the interval brings nothing.
    People,
}

impl Trouble {
    pub(crate) fn for_people(message: impl Into<String>) -> Self {
        Self { message: message.into(), mend: Mend::People }
    }
}

impl From<yuba_git::fetch::FetchError> for Trouble {
    fn from(error: yuba_git::fetch::FetchError) -> Self {
        let mend = if error.is_permanent() { Mend::People } else { Mend::Time };
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
        Self { message: format!("{error}{cause}"), mend }
    }
}

/// The failure to note after one more look failed, and when to look again.
pub(crate) fn after(
    earlier: Option<&SourceFailure>,
    trouble: &Trouble,
    interval: Span,
    now: Timestamp,
) -> (SourceFailure, Timestamp) {
    let count = earlier.map_or(0, |failure| failure.count).saturating_add(1);
    let since = earlier.map_or(now, |failure| failure.since);
    let wait = match trouble.mend {
        Mend::People => interval,
        Mend::Time => {
            let doubled = FIRST.min(interval).0.saturating_mul(1 << count.saturating_sub(1).min(20));
            Span(doubled).min(LONGEST)
        }
    };
    (SourceFailure { message: trouble.message.clone(), count, since }, now + wait)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(mend: Mend, interval: Span) -> String {
        let trouble = Trouble { message: "down".to_owned(), mend };
        let mut failure = None;
        let mut waits = Vec::new();
        for _ in 0..6 {
            let (noted, again) = after(failure.as_ref(), &trouble, interval, Timestamp(0));
            waits.push(again.since(Timestamp(0)).to_string());
            failure = Some(noted);
        }
        waits.join(" ")
    }

    #[test]
    fn waits_double_to_ten_minutes() {
        insta::assert_snapshot!(waits(Mend::Time, Span::minutes(5)), @"1m0s 2m0s 4m0s 8m0s 10m0s 10m0s");
        insta::assert_snapshot!(waits(Mend::Time, Span::seconds(30)), @"30s 1m0s 2m0s 4m0s 8m0s 10m0s");
        insta::assert_snapshot!(waits(Mend::People, Span::hours(1)), @"1h0m0s 1h0m0s 1h0m0s 1h0m0s 1h0m0s 1h0m0s");
    }
}
