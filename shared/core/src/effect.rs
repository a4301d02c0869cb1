//! Effects: what is to be done in the world after a decision was committed. Each is idempotent: its request is built
//! from records alone, and its key is its client token, event id or object name.

use serde::{Deserialize, Serialize};

use crate::event::Event;
use crate::id::{AttemptId, RequestId, RunId, SecretName, SourceName};
use crate::spec::KeyMapping;
use crate::time::Timestamp;

/// An effect that is still to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PendingEffect {
    /// Its idempotency key, unique within the stack: `start#<attempt>`.
    pub key: String,
    /// What is to be done.
    pub effect: Effect,
    /// When it was decided.
    pub since: Timestamp,
    /// How often it was tried and failed for a passing reason.
    pub tries: u32,
    /// When it may be tried (again).
    pub due: Timestamp,
    /// What the last try said.
    pub trouble: Option<String>,
    /// Trying again cannot mend it; the next decision says what follows.
    pub given_up: bool,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Start the task of an attempt.
    StartTask {
        /// The attempt; its id is the launcher's client token.
        attempt: AttemptId,
    },
    /// Kill the task of an attempt that did not stop when it was told to.
    KillTask {
        /// The attempt.
        attempt: AttemptId,
    },
    /// Publish an event.
    Publish {
        /// The event.
        event: Event,
    },
    /// Wake the stacks that depend on this one.
    WakeDependants {
        /// The run that ended.
        run: RunId,
    },
    /// Note that the stack has a trouble.
    NoteTrouble {
        /// The trouble.
        signature: String,
    },
    /// The trouble is over for this stack: those that wait behind it are woken.
    ClearTrouble {
        /// The trouble.
        signature: String,
        /// The run that showed it.
        run: RunId,
    },
    /// Have the source store the code of an attempt again, which is missing or damaged.
    StoreArtifact {
        /// The attempt that says so.
        attempt: AttemptId,
        /// The source.
        source: SourceName,
    },
    /// Tell somebody in private what became of their request.
    Reply {
        /// The request.
        request: RequestId,
    },
    /// Write the outputs that an apply attempt stored.
    WriteOutputs {
        /// The attempt that stored them.
        attempt: AttemptId,
        /// The secret to write.
        secret: SecretName,
        /// Which outputs, under which names; empty for all.
        outputs: Vec<KeyMapping>,
    },
}

impl Effect {
    /// Its idempotency key within the stack.
    pub fn key(&self) -> String {
        match self {
            Self::StartTask { attempt } => format!("start#{attempt}"),
            Self::KillTask { attempt } => format!("kill#{attempt}"),
            Self::Publish { event } => format!("event#{}", event.number),
            Self::WakeDependants { run } => format!("wake-dependants#{run}"),
            Self::NoteTrouble { signature } => format!("note-trouble#{signature}"),
            Self::ClearTrouble { signature, run } => format!("clear-trouble#{signature}#{run}"),
            Self::StoreArtifact { attempt, .. } => format!("store-artifact#{attempt}"),
            Self::Reply { request } => format!("reply#{request}"),
            Self::WriteOutputs { attempt, .. } => format!("outputs#{attempt}"),
        }
    }
}
