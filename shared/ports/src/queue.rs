//! `Queue`: messages in groups, each group in order and with one receiver at a time, at least once.

use async_trait::async_trait;
use yuba_core::message::{Message, Wake};
use yuba_core::time::{Span, Timestamp};

use crate::error::PortError;

/// The queues there are: one per function that receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QueueName {
    /// Wakes sources and manifest sets.
    Sources,
    /// Wakes stacks.
    Stacks,
    /// Tells of events, and wakes providers of notifications.
    Notices,
}

/// Messages in groups. On AWS SQS FIFO, on one machine a SQLite table.
///
/// A message that is received is hidden for a visibility time; it comes again when that passes without [`Queue::ack`].
/// As long as any message of a group is hidden, no other of that group is received: what comes again comes before
/// what follows it. A second message with the deduplication id of one that was sent within the last five minutes may be
/// dropped.
#[async_trait]
pub trait Queue: Send + Sync {
    /// Sends messages to the queue that their [`yuba_core::message::Wake`] names; durable when it returns.
    async fn send(&self, messages: Vec<Message>) -> Result<(), PortError>;

    /// Waits up to `wait` for the first messages of one group of which none is hidden, in order: at least one where
    /// there is such a group, at most `most`.
    async fn receive(&self, queue: QueueName, most: usize, wait: Span) -> Result<Vec<Received>, PortError>;

    /// The message was handled: it will not come again.
    async fn ack(&self, received: &Received) -> Result<(), PortError>;

    /// The message was not handled: it comes again once `after` has passed, before later ones of its group. Of several
    /// that were received together, those after it are to be released too.
    async fn release(&self, received: &Received, after: Span) -> Result<(), PortError>;

    /// The message cannot be handled: it becomes a dead letter, with why, and holds up its group no more.
    async fn set_aside(&self, received: &Received, why: &str) -> Result<(), PortError>;

    /// The dead letters of a queue, at most `most`, the oldest first. Of a group some may be left out as long as others
    /// of it lie there.
    async fn dead_letters(&self, queue: QueueName, most: usize) -> Result<Vec<DeadLetter>, PortError>;

    /// Sends dead letters again, at most `most`, each group in its order, whatever was sent with their deduplication ids;
    /// says how many. They cease to be dead letters once that is durable.
    async fn redrive(&self, queue: QueueName, most: usize) -> Result<usize, PortError>;
}

/// A message that could not be handled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// Names it within its queue.
    pub id: String,
    /// The group that it belongs to: whom it wakes.
    pub group: String,
    /// What was sent; it need not be a message that this version can read.
    pub body: String,
    /// Since when it is a dead letter.
    pub since: Timestamp,
    /// Why it could not be handled, where that is known.
    pub why: Option<String>,
}

/// A message that was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The message.
    pub message: Message,
    /// Names this receipt of it.
    pub receipt: String,
    /// How often it was received, this time included.
    pub receives: u32,
}

impl QueueName {
    /// The queue that a message goes to.
    pub fn of(message: &Message) -> Self {
        match message.wake {
            Wake::Stack(_) => Self::Stacks,
            Wake::Source(_) | Wake::Manifests(_) => Self::Sources,
            Wake::Events(_) | Wake::Provider(_) | Wake::Reply(_) => Self::Notices,
        }
    }

    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sources, Self::Stacks, Self::Notices];

    /// Its name in a store, and for people.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sources => "sources",
            Self::Stacks => "stacks",
            Self::Notices => "notices",
        }
    }
}
