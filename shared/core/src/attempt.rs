//! Attempts: one try at a phase, fenced by its claim.
//!
//! The orchestrator issues and closes an attempt; `tasks` moves it from issued to claimed to reported, each step by a
//! conditional write. A task acts only after its claim was accepted, and there is one claim per attempt.

use serde::{Deserialize, Serialize};

use crate::id::{AttemptId, StackId};
use crate::job::Job;
use crate::plan::summary::PlanReport;
use crate::record::{Key, Record};
use crate::run::Failure;
use crate::time::Timestamp;

/// One try at a phase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Attempt {
    /// Its id.
    pub id: AttemptId,
    /// The stack.
    pub stack: StackId,
    /// What is to be done.
    pub job: Job,
    /// How far it is.
    pub state: AttemptState,
    /// When it was issued.
    pub issued_at: Timestamp,
    /// When it was claimed.
    pub claimed_at: Option<Timestamp>,
    /// When the claimed task was last heard of.
    pub heard_at: Option<Timestamp>,
    /// How far it says it is.
    pub progress: Option<Progress>,
    /// Set when it is to stop; the task asks for it with each heartbeat.
    pub stop: Option<StopOrder>,
    /// What it reported.
    pub report: Option<AttemptReport>,
}

impl Record for Attempt {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::attempt(self.id)
    }
}

/// How far an attempt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttemptState {
    /// Nobody acts on it yet; one task may claim it.
    Issued,
    /// A task acts on it.
    Claimed,
    /// The task has reported and acts no more.
    Reported,
    /// Nobody may claim or report any more.
    Closed,
}

/// That an attempt is to stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopOrder {
    /// When it was given.
    pub at: Timestamp,
    /// Why, for people and log.
    pub why: String,
}

/// How far a claimed attempt says it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// `init`, `plan`, `show`, `apply`, `output`.
    pub step: String,
    /// Resources done.
    pub done: u32,
    /// Resources in all, where known.
    pub total: Option<u32>,
    /// The address it works on.
    pub current: Option<String>,
}

/// What an attempt reports when it ends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttemptReport {
    /// A plan is stored.
    Planned(PlanReport),
    /// The plan was applied; outputs and inventory are stored.
    Applied {
        /// Names of the root outputs.
        outputs: Vec<String>,
        /// How many resources the state now holds.
        resources: u32,
        /// Things people should know.
        notices: Vec<String>,
    },
    /// It failed.
    Failed(Failure),
    /// It stopped because it was told to.
    Stopped {
        /// What was going on.
        message: String,
        /// Whether anything may have been changed before it stopped.
        acted: bool,
        /// See [`Failure::errored_state`].
        errored_state: bool,
    },
}
