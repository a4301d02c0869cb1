//! The one message of a run in Slack, which is edited in place.

use serde::{Deserialize, Serialize};

use crate::id::{ObjectName, RunId, StackId};
use crate::record::{Index, IndexEntry, Key, Record};
use crate::run::{Run, RunState};
use crate::stack::Stack;
use crate::time::{Span, Timestamp};

/// How long it is remembered which message shows a run.
const KEPT: Span = Span::hours(90 * 24);

/// That a provider shows a run. It is stored with the first notification, before anything is sent: so every later event
/// of the stack finds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlackThread {
    /// The provider.
    pub provider: ObjectName,
    /// The stack.
    pub stack: StackId,
    /// The run.
    pub run: RunId,
    /// The message, once it was sent.
    pub posted: Option<SlackMessage>,
    /// Digest of what it shows.
    pub shown: Option<String>,
    /// Whether what it shows may still change.
    pub is_open: bool,
    /// Since when.
    pub since: Timestamp,
}

/// A message in Slack: these two name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlackMessage {
    /// The channel's id.
    pub channel: String,
    /// The message's time stamp.
    pub ts: String,
}

impl SlackThread {
    /// A provider is to show a run.
    pub fn new(provider: ObjectName, stack: StackId, run: RunId, now: Timestamp) -> Self {
        Self { provider, stack, run, posted: None, shown: None, is_open: true, since: now }
    }

    /// Where it lies.
    pub fn key_of(stack: StackId, run: RunId, provider: &ObjectName) -> Key {
        Key::new(threads_partition(stack), format!("{run}#{provider}"))
    }
}

/// The partition of the messages that show runs of a stack, oldest run first.
pub fn threads_partition(stack: StackId) -> String {
    format!("slack-threads#{stack}")
}

impl Record for SlackThread {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Self::key_of(self.stack, self.run, &self.provider)
    }
    fn indexes(&self) -> Vec<IndexEntry> {
        vec![IndexEntry::at(Index::Expires, self.since + KEPT)]
    }
}

/// Whether the drift that a run found is still there.
pub fn drift_stands(stack: &Stack, run: &Run) -> bool {
    let content = run.plan.as_ref().map(|plan| plan.report.content);
    run.state == RunState::Drifted
        && stack.drift.as_ref().is_some_and(|drift| drift.run == run.id || Some(drift.content) == content)
}
