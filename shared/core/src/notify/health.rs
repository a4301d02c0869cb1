//! How a provider fares: what stands between it and its messages.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::notification::{Mend, Undelivered};
use crate::id::ObjectName;
use crate::record::{Key, Record};
use crate::schedule::backoff;
use crate::time::{Span, Timestamp};

/// The first wait where time may mend it.
const FIRST_WAIT: Span = Span::seconds(5);
/// The first wait where its settings must be changed: whoever changes them ends the wait.
const FIRST_WAIT_FOR_SETTINGS: Span = Span::minutes(1);
/// The longest wait, also where the provider asks for a longer one.
const LONGEST_WAIT: Span = Span::hours(1);

/// How a provider fares. Written by the notifier, while it handles the one message of the provider's group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderHealth {
    /// The provider.
    pub provider: ObjectName,
    /// When it last took a message.
    pub last_success: Option<Timestamp>,
    /// Why it last did not.
    pub last_error: Option<LastError>,
    /// How often in a row it could not be delivered to.
    pub failures: u32,
    /// Until when nothing is sent to it.
    pub held_until: Option<Timestamp>,
}

/// Why a provider did not take a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastError {
    /// What happened, where, what to do.
    pub why: String,
    /// When.
    pub at: Timestamp,
}

impl ProviderHealth {
    /// Nothing is known yet.
    pub fn new(provider: ObjectName) -> Self {
        Self { provider, last_success: None, last_error: None, failures: 0, held_until: None }
    }

    /// Where that of a provider lies.
    pub fn key_of(provider: &ObjectName) -> Key {
        Key::new("provider-health", provider.to_string())
    }

    /// It took a message.
    pub fn succeeded(&mut self, now: Timestamp) {
        self.last_success = Some(now);
        self.failures = 0;
        self.held_until = None;
    }

    /// It did not take a message. Where that is not the message's own fault, all of its messages wait.
    pub fn failed(&mut self, failure: &Undelivered, now: Timestamp) {
        self.last_error = Some(LastError { why: failure.why.clone(), at: now });
        if failure.mend == Mend::Nothing {
            return;
        }
        self.failures = self.failures.saturating_add(1);
        let wait = match failure.mend {
            Mend::Time => self.spread(backoff(FIRST_WAIT, self.failures)),
            Mend::After(asked) => asked.max(Span::seconds(1)),
            Mend::Settings | Mend::Nothing => self.spread(backoff(FIRST_WAIT_FOR_SETTINGS, self.failures)),
        };
        self.held_until = Some(now + wait.min(LONGEST_WAIT));
    }

    /// Until when it is held up, if it is.
    pub fn is_held(&self, now: Timestamp) -> Option<Timestamp> {
        self.held_until.filter(|until| *until > now)
    }

    /// Whether the last message was not taken; why.
    pub fn trouble(&self) -> Option<&LastError> {
        self.last_error.as_ref().filter(|error| self.last_success.is_none_or(|success| success < error.at))
    }

    /// A wait longer by up to a fifth, by an amount that is the provider's and the failure's own: providers of one host
    /// that went away do not all come back at once.
    fn spread(&self, wait: Span) -> Span {
        let digest = Sha256::digest(format!("{}#{}", self.provider, self.failures));
        let share = digest.first().copied().unwrap_or_default();
        Span(wait.0 + wait.0 / 5 * i64::from(share) / 255)
    }
}

impl Record for ProviderHealth {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Self::key_of(&self.provider)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn waits(mend: Mend, failures: usize) -> Vec<i64> {
        let mut health = ProviderHealth::new(ObjectName::new("infra", "slack"));
        let mut wait = |_| {
            health.failed(&Undelivered::new(mend, "no"), NOW);
            health.is_held(NOW).map_or(0, |until| until.since(NOW).0 / 1000)
        };
        (0..failures).map(&mut wait).collect()
    }

    #[test]
    fn waits_double_and_spread_by_a_fifth_at_most() {
        for (wait, least) in waits(Mend::Time, 4).into_iter().zip([5, 10, 20, 40]) {
            assert!((least..=least * 6 / 5).contains(&wait), "{wait} for {least}");
        }
        assert_eq!(waits(Mend::Time, 20).last(), Some(&3600));
        let first = waits(Mend::Settings, 1)[0];
        assert!((60..=72).contains(&first), "{first}");
    }

    #[test]
    fn a_provider_says_itself_how_long_to_wait_up_to_an_hour() {
        assert_eq!(waits(Mend::After(Span::seconds(30)), 2), [30, 30]);
        assert_eq!(waits(Mend::After(Span::ZERO), 1), [1]);
        assert_eq!(waits(Mend::After(Span::hours(9)), 1), [3600]);
    }

    #[test]
    fn a_message_that_is_not_taken_holds_up_no_other_and_is_seen() {
        let mut health = ProviderHealth::new(ObjectName::new("infra", "slack"));
        health.failed(&Undelivered::new(Mend::Nothing, "invalid_blocks"), NOW);
        assert_eq!(health.is_held(NOW), None);
        assert_eq!(health.trouble().map(|error| error.why.as_str()), Some("invalid_blocks"));
        health.succeeded(NOW);
        assert_eq!(health.trouble(), None);
    }
}
