//! Messages: each only wakes. It names its cause, never carries the truth; the stored records decide.

use serde::{Deserialize, Serialize};

use crate::id::{AttemptId, DeliveryId, ManifestSetName, ObjectName, RequestId, RunId, SourceName, StackId};
use crate::time::Timestamp;

/// A message on the events queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Of the wire form; now 1.
    pub schema: u32,
    /// Whom it wakes.
    pub wake: Wake,
    /// What for.
    pub cause: Cause,
}

/// Whom a message wakes: also the group within which messages keep their order, handled by one at a time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wake {
    /// The orchestrator, for a stack.
    Stack(StackId),
    /// The `source` function, for a source.
    Source(SourceName),
    /// The `source` function, for a configured place of manifests.
    Manifests(ManifestSetName),
    /// The notifier, for the events of a stack.
    Events(StackId),
    /// The notifier, for a provider of notifications.
    Provider(ObjectName),
    /// The notifier, for somebody in Slack who is told what became of a request.
    Reply(RequestId),
}

/// What caused a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Something is due. `slot` is the due time that was seen; a later one in the record makes this message stale.
    Due {
        /// The due time.
        slot: Timestamp,
    },
    /// A webhook delivery says that a source may have moved.
    Delivery(DeliveryId),
    /// A request was stored.
    Request(RequestId),
    /// A source wrote a new observation of the stack.
    Observation {
        /// The source.
        source: SourceName,
        /// The observation's number.
        number: u64,
    },
    /// A manifest set wrote a new definition of the stack, or of stacks in the source.
    Definition {
        /// The set.
        set: ManifestSetName,
        /// The snapshot's number.
        snapshot: u64,
    },
    /// A task claimed, reported, was seen to stop, or lacks its code.
    Attempt {
        /// The attempt.
        attempt: AttemptId,
        /// What was seen: `claimed`, `reported`, `stopped`, `without-code`.
        what: AttemptNews,
    },
    /// There came to be room for the task of an attempt that waits for it.
    Room {
        /// The attempt.
        attempt: AttemptId,
        /// When that was noticed: it may be woken in vain, and again.
        at: Timestamp,
    },
    /// A stack that this one depends on came to an end of a run.
    Dependency {
        /// The dependency.
        stack: StackId,
        /// Its run.
        run: RunId,
    },
    /// Another stack came to name the same state, or ceased to.
    SameState {
        /// The other stack.
        stack: StackId,
        /// When that was noticed.
        at: Timestamp,
    },
    /// A secret or config map that the stack reads was written.
    Values {
        /// `Kind namespace/name`.
        name: String,
        /// Its version.
        version: String,
    },
    /// An event was published.
    Event {
        /// The stack.
        stack: StackId,
        /// The event's number within it.
        number: u64,
    },
}

/// What was seen of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttemptNews {
    /// It was claimed.
    Claimed,
    /// It reported.
    Reported,
    /// Its task stopped.
    Stopped,
    /// It reported that the stored code of its revision is missing or damaged.
    WithoutCode,
}

impl Message {
    /// A message of the current form.
    pub fn new(wake: Wake, cause: Cause) -> Self {
        Self { schema: 1, wake, cause }
    }

    /// The group within which messages keep their order, handled by one at a time.
    pub fn group(&self) -> String {
        match &self.wake {
            Wake::Stack(stack) => format!("stack#{stack}"),
            Wake::Source(source) => format!("source#{source}"),
            Wake::Manifests(set) => format!("manifests#{set}"),
            Wake::Events(stack) => format!("events#{stack}"),
            Wake::Provider(provider) => format!("provider#{provider}"),
            Wake::Reply(request) => format!("reply#{request}"),
        }
    }

    /// Names the cause: of two messages with one id, only one need be delivered.
    pub fn deduplication_id(&self) -> String {
        let cause = match &self.cause {
            Cause::Due { slot } => format!("due#{}", slot.0),
            Cause::Delivery(id) => format!("delivery#{id}"),
            Cause::Request(id) => format!("request#{id}"),
            Cause::Observation { source, number } => format!("observation#{source}#{number}"),
            Cause::Definition { set, snapshot } => format!("definition#{set}#{snapshot}"),
            Cause::Attempt { attempt, what } => format!("attempt#{attempt}#{what:?}"),
            Cause::Room { attempt, at } => format!("room#{attempt}#{}", at.0),
            Cause::Dependency { stack, run } => format!("dependency#{stack}#{run}"),
            Cause::SameState { stack, at } => format!("state#{stack}#{}", at.0),
            Cause::Values { name, version } => format!("values#{name}#{version}"),
            Cause::Event { stack, number } => format!("event#{stack}#{number}"),
        };
        format!("{}#{cause}", self.group())
    }
}
