//! The rule of repetition: what was said of a stack is not said again within five minutes, as Flux has it.
//! <https://fluxcd.io/flux/components/notification/events/#rate-limiting>

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::event::{Event, EventSeverity};
use crate::record::{Index, IndexEntry, Key, Record};
use crate::time::{Span, Timestamp};

/// How long the same is not said again.
const QUIET: Span = Span::minutes(5);

/// That something was said of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Over what was said.
    pub digest: String,
    /// The event that said it.
    pub event: String,
    /// When.
    pub at: Timestamp,
}

impl Said {
    /// What an event says: its stack, what happened, the sentence, the revision. Where somebody is waited for the run
    /// counts too: each run needs a decision of its own.
    pub fn of(event: &Event, now: Timestamp) -> Self {
        let run = event.run.filter(|_| event.kind.severity() == EventSeverity::Warning);
        let parts = (event.stack, event.kind, &event.message, &event.revision, run);
        let digest = hex::encode(Sha256::digest(format!("{parts:?}")));
        Self { digest, event: event.id(), at: now }
    }

    /// Where it is noted.
    pub fn key_of(digest: &str) -> Key {
        Key::new(format!("said#{digest}"), "said")
    }

    /// Whether this, which was noted before, keeps another event from saying the same.
    pub fn silences(&self, event: &Event, now: Timestamp) -> bool {
        self.event != event.id() && now.since(self.at) < QUIET
    }
}

impl Record for Said {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Self::key_of(&self.digest)
    }
    fn indexes(&self) -> Vec<IndexEntry> {
        vec![IndexEntry::at(Index::Expires, self.at + QUIET)]
    }
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;
    use crate::event::EventKind;
    use crate::id::{RunId, StackId, StackName};

    fn event(number: u64, kind: EventKind, message: &str) -> Event {
        Event {
            stack: StackId(Ulid(1)),
            name: StackName::new("infra", "network"),
            number,
            kind,
            run: Some(RunId(Ulid(u128::from(number)))),
            revision: None,
            message: message.to_owned(),
            at: Timestamp(0),
        }
    }

    #[test]
    fn the_same_is_not_said_again_within_five_minutes() {
        let (first, again) =
            (event(1, EventKind::RunFailed, "no access"), event(2, EventKind::RunFailed, "no access"));
        let said = Said::of(&first, Timestamp(0));
        assert_eq!(said.digest, Said::of(&again, Timestamp(9)).digest);
        let at = |minutes| Timestamp(0) + Span::minutes(minutes);
        assert!(said.silences(&again, at(4)) && !said.silences(&again, at(5)));
        assert!(!said.silences(&first, at(0)), "an event that comes again does not silence itself");
    }

    #[test]
    fn other_words_are_said_and_so_is_each_request() {
        let digest = |number, kind, message| Said::of(&event(number, kind, message), Timestamp(0)).digest;
        assert_ne!(digest(1, EventKind::RunFailed, "a"), digest(2, EventKind::RunFailed, "b"));
        let asks = EventKind::ApprovalRequested;
        assert_ne!(digest(1, asks, "a"), digest(2, asks, "a"));
    }
}
