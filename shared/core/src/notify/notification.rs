//! One telling: an event, for one provider.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{ObjectName, RequestId, RunId, StackId};
use crate::record::{Index, IndexEntry, Key, Record};
use crate::request::Signed;
use crate::time::{Span, Timestamp};

/// How long after it was stored a notification is looked after by the sweep, if its own message was lost.
const LOOK_AFTER: Span = Span::seconds(10);
/// How long a notification is tried.
const PATIENCE: Span = Span::hours(24);
/// How long one that was sent is kept.
const SENT_KEPT: Span = Span::hours(7 * 24);
/// How long one that was given up is kept: it can be sent again.
const GIVEN_UP_KEPT: Span = Span::hours(30 * 24);

/// A notification. Pending ones of a provider lie together, in the order in which they are to be sent; the others lie
/// apart, so that an event that comes again is not told again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notification {
    /// Who delivers it.
    pub provider: ObjectName,
    /// What is told.
    pub of: Occasion,
    /// What became of it.
    pub state: NoticeState,
    /// How often it was tried and not delivered.
    pub tries: u32,
    /// Why the last try did not deliver it.
    pub trouble: Option<String>,
    /// When it was stored.
    pub since: Timestamp,
}

/// What is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Occasion {
    /// An event that an alert chose.
    Alert {
        /// The event's stack.
        stack: StackId,
        /// Its number.
        event: u64,
        /// The run whose record tells all of it, where one does.
        run: Option<RunId>,
        /// The alert.
        alert: ObjectName,
        /// What the alert says with every message.
        metadata: BTreeMap<String, String>,
    },
    /// A run whose message, sent before, may show no longer how it stands.
    Again {
        /// The stack of the event that says so.
        stack: StackId,
        /// That event's number.
        event: u64,
        /// The run.
        run: RunId,
    },
    /// Nothing: somebody tries the provider.
    Test {
        /// Names the try.
        id: RequestId,
        /// Who tries it.
        by: Signed,
    },
}

/// What became of a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoticeState {
    /// It is still to be sent.
    Pending {
        /// When the sweep wakes its provider.
        due: Timestamp,
    },
    /// It was sent.
    Sent {
        /// When.
        at: Timestamp,
    },
    /// It will not be sent by itself.
    GivenUp {
        /// When that was decided.
        at: Timestamp,
    },
}

/// Why a notification was not delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undelivered {
    /// What happened, where, what to do. It holds no secret.
    pub why: String,
    /// What may mend it.
    pub mend: Mend,
}

/// What may mend a delivery that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mend {
    /// Time.
    Time,
    /// Time, and not before this has passed.
    After(Span),
    /// Another manifest, or another secret.
    Settings,
    /// Nothing: this message is not taken.
    Nothing,
}

impl Undelivered {
    /// A delivery that failed.
    pub fn new(mend: Mend, why: impl Into<String>) -> Self {
        Self { why: why.into(), mend }
    }
}

impl Occasion {
    /// Names it among those of a provider. In this order they are sent: events of a stack by their number.
    pub fn id(&self) -> String {
        match self {
            Self::Alert { stack, event, .. } => format!("{stack}#{event:012}"),
            Self::Again { stack, event, run } => format!("{stack}#{event:012}#{run}"),
            Self::Test { id, .. } => format!("test#{id}"),
        }
    }

    /// The run that a message of its own shows.
    pub fn run(&self) -> Option<(StackId, RunId)> {
        match self {
            Self::Alert { stack, run, .. } => run.map(|run| (*stack, run)),
            Self::Again { stack, run, .. } => Some((*stack, *run)),
            Self::Test { .. } => None,
        }
    }
}

impl Notification {
    /// A notification that is still to be sent.
    pub fn new(provider: ObjectName, of: Occasion, now: Timestamp) -> Self {
        let state = NoticeState::Pending { due: now + LOOK_AFTER };
        Self { provider, of, state, tries: 0, trouble: None, since: now }
    }

    /// The same, delivered.
    #[must_use]
    pub fn sent(self, now: Timestamp) -> Self {
        Self { state: NoticeState::Sent { at: now }, trouble: None, ..self }
    }

    /// The same after a try that failed. It is tried again once its provider is no longer held up; unless somebody waits
    /// for the outcome, nothing can mend it, or it was tried for a day.
    #[must_use]
    pub fn failed(self, failure: &Undelivered, held_until: Option<Timestamp>, now: Timestamp) -> Self {
        let is_test = matches!(self.of, Occasion::Test { .. });
        let is_over = is_test || failure.mend == Mend::Nothing || now.since(self.since) >= PATIENCE;
        let state = match held_until {
            Some(due) if !is_over => NoticeState::Pending { due },
            _ => NoticeState::GivenUp { at: now },
        };
        Self { state, tries: self.tries.saturating_add(1), trouble: Some(failure.why.clone()), ..self }
    }

    /// The same, not tried because its provider is held up; given up where that has lasted for a day.
    #[must_use]
    pub fn held(self, until: Timestamp, why: &str, now: Timestamp) -> Self {
        if now.since(self.since) >= PATIENCE {
            return self.given_up(why, now);
        }
        Self { state: NoticeState::Pending { due: until }, ..self }
    }

    /// The same, given up without a try.
    #[must_use]
    pub fn given_up(self, why: impl Into<String>, now: Timestamp) -> Self {
        Self { state: NoticeState::GivenUp { at: now }, trouble: Some(why.into()), ..self }
    }

    /// Where the pending notification of a name lies.
    pub fn pending_key(provider: &ObjectName, id: &str) -> Key {
        Key::new(pending_partition(provider), id)
    }

    /// Where it lies once it was sent or given up.
    pub fn settled_key(provider: &ObjectName, id: &str) -> Key {
        Key::new(settled_partition(provider), id)
    }
}

/// The partition of what a provider is still to send.
pub fn pending_partition(provider: &ObjectName) -> String {
    format!("notices#{provider}")
}

/// The partition of what a provider has sent, or will not send.
pub fn settled_partition(provider: &ObjectName) -> String {
    format!("settled-notices#{provider}")
}

impl Record for Notification {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        match self.state {
            NoticeState::Pending { .. } => Self::pending_key(&self.provider, &self.of.id()),
            NoticeState::Sent { .. } | NoticeState::GivenUp { .. } => {
                Self::settled_key(&self.provider, &self.of.id())
            }
        }
    }
    fn indexes(&self) -> Vec<IndexEntry> {
        vec![match self.state {
            NoticeState::Pending { due } => IndexEntry::at(Index::Due, due),
            NoticeState::Sent { at } => IndexEntry::at(Index::Expires, at + SENT_KEPT),
            NoticeState::GivenUp { at } => IndexEntry::at(Index::Expires, at + GIVEN_UP_KEPT),
        }]
    }
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;

    const HOUR: Timestamp = Timestamp(3_600_000);

    fn again() -> Notification {
        let of = Occasion::Again { stack: StackId(Ulid(1)), event: 7, run: RunId(Ulid(2)) };
        Notification::new(ObjectName::new("infra", "slack"), of, Timestamp(0))
    }

    fn test() -> Notification {
        let (who, from) = ("ada".to_owned(), "cli".to_owned());
        let by = Signed { who, at: HOUR, from, message: String::new(), identity: None };
        Notification { of: Occasion::Test { id: RequestId(Ulid(3)), by }, ..again() }
    }

    fn after(notification: Notification, mend: Mend, now: Timestamp) -> NoticeState {
        let until = Some(now + Span::minutes(1));
        notification.failed(&Undelivered::new(mend, "no"), until, now).state
    }

    #[test]
    fn what_time_or_settings_may_mend_is_tried_for_a_day() {
        let due = NoticeState::Pending { due: HOUR + Span::minutes(1) };
        for mend in [Mend::Time, Mend::After(Span::seconds(1)), Mend::Settings] {
            assert_eq!(after(again(), mend, HOUR), due, "{mend:?}");
        }
        let day = Timestamp(0) + Span::hours(24);
        assert_eq!(after(again(), Mend::Time, day), NoticeState::GivenUp { at: day });
    }

    #[test]
    fn what_waits_behind_a_failure_waits_as_long_and_a_day_at_most() {
        let (until, day) = (HOUR + Span::minutes(1), Timestamp(0) + Span::hours(24));
        let held = again().held(until, "no", HOUR);
        assert_eq!((held.state, held.tries), (NoticeState::Pending { due: until }, 0));
        let over = again().held(until, "no", day);
        assert_eq!((over.state, over.trouble.as_deref()), (NoticeState::GivenUp { at: day }, Some("no")));
    }

    #[test]
    fn what_is_not_taken_is_given_up_and_so_is_a_test() {
        assert_eq!(after(again(), Mend::Nothing, HOUR), NoticeState::GivenUp { at: HOUR });
        assert_eq!(after(test(), Mend::Time, HOUR), NoticeState::GivenUp { at: HOUR });
    }

    #[test]
    fn it_lies_with_what_is_pending_until_it_is_settled() {
        let (pending, sent) = (again(), again().sent(HOUR));
        assert_eq!(pending.key().partition, "notices#infra/slack");
        assert_eq!(sent.key().partition, "settled-notices#infra/slack");
        assert_eq!(pending.key().sort, sent.key().sort);
        assert_eq!(pending.indexes(), [IndexEntry::at(Index::Due, Timestamp(10_000))]);
        assert_eq!(sent.indexes(), [IndexEntry::at(Index::Expires, HOUR + Span::hours(168))]);
    }

    #[test]
    fn events_of_a_stack_are_sent_in_the_order_of_their_numbers() {
        let id = |event| {
            let of = Occasion::Again { stack: StackId(Ulid(1)), event, run: RunId(Ulid(2)) };
            of.id()
        };
        assert!(id(9) < id(10) && id(99) < id(100));
    }
}
