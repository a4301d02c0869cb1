//! What a launcher remembers of a task: ECS itself forgets a task an hour after it stopped.

use serde::{Deserialize, Serialize};
use yuba_core::id::AttemptId;
use yuba_core::record::{Index, IndexEntry, Key, Record};
use yuba_core::time::{Span, Timestamp};

/// How long it is remembered: longer than any attempt can last.
const KEPT: Span = Span::hours(14 * 24);

/// That an attempt has a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Launched {
    /// The attempt.
    pub(super) attempt: AttemptId,
    /// The task's ARN.
    pub(super) task: String,
    /// When ECS was asked for it.
    pub(super) at: Timestamp,
}

/// Where it lies: beside the attempt.
pub(super) fn launched_key(attempt: AttemptId) -> Key {
    Key::new(Key::attempt(attempt).partition, "task")
}

impl Record for Launched {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        launched_key(self.attempt)
    }
    fn indexes(&self) -> Vec<IndexEntry> {
        vec![IndexEntry::at(Index::Expires, self.at + KEPT)]
    }
}
