//! Events: facts that are published, as CloudEvents 1.0. They are numbered within their stack; the number, not the
//! time, orders them, and makes the id under which each is published at least once.

use serde::{Deserialize, Serialize};

use crate::id::{Revision, RunId, StackId, StackName};
use crate::record::{Index, IndexEntry, Key, Record, sortable};
use crate::time::Timestamp;

/// A fact about a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The stack.
    pub stack: StackId,
    /// Its name.
    pub name: StackName,
    /// Counts from 1 within the stack.
    pub number: u64,
    /// What happened.
    pub kind: EventKind,
    /// The run it happened to.
    pub run: Option<RunId>,
    /// The revision it happened at.
    pub revision: Option<Revision>,
    /// The sentence people see.
    pub message: String,
    /// When.
    pub at: Timestamp,
}

impl Event {
    /// The CloudEvents id: equal for every publication of the same fact.
    pub fn id(&self) -> String {
        format!("{}-{}", self.stack, self.number)
    }
}

impl Record for Event {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::event(self.stack, self.number)
    }
    fn indexes(&self) -> Vec<IndexEntry> {
        vec![IndexEntry::new(Index::Events, format!("{}#{}", sortable(self.at), self.id()))]
    }
}

/// What happened, in the past tense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventKind {
    /// A run was made.
    RunQueued,
    /// A plan waits for a decision.
    ApprovalRequested,
    /// A first plan waits for a word on its state.
    AdoptionRequested,
    /// A plan was approved or rejected.
    PlanDecided,
    /// An apply began.
    ApplyStarted,
    /// A run ended without a change to make.
    RunUnchanged,
    /// A plan that is not to be applied was made.
    RunPlanned,
    /// A run was applied.
    RunApplied,
    /// A run failed.
    RunFailed,
    /// A check went well after the one before it had failed.
    StackRecovered,
    /// The same error stops many stacks; their retries wait behind one of them.
    RetriesPaused,
    /// A run was discarded, cancelled or superseded.
    RunDropped,
    /// Drift was found.
    DriftDetected,
    /// Somebody ignores drift for a while, or looks after it.
    DriftAnswered,
    /// Drift was found again and again, and nobody answered it.
    DriftEscalated,
    /// Drift that was found is gone.
    DriftResolved,
    /// A stack vanished from the manifests.
    StackVanished,
    /// A stack's document is faulty; its last good version stays in force.
    ManifestFaulty,
    /// A stack's document is right again.
    ManifestMended,
    /// Another stack names the same state; neither is applied.
    StateShared,
    /// No other stack names the state any more.
    StateFreed,
    /// An effect was given up.
    EffectFailed,
}

impl EventKind {
    /// All of them.
    pub const ALL: [Self; 22] = [
        Self::RunQueued,
        Self::ApprovalRequested,
        Self::AdoptionRequested,
        Self::PlanDecided,
        Self::ApplyStarted,
        Self::RunUnchanged,
        Self::RunPlanned,
        Self::RunApplied,
        Self::RunFailed,
        Self::StackRecovered,
        Self::RetriesPaused,
        Self::RunDropped,
        Self::DriftDetected,
        Self::DriftAnswered,
        Self::DriftEscalated,
        Self::DriftResolved,
        Self::StackVanished,
        Self::ManifestFaulty,
        Self::ManifestMended,
        Self::StateShared,
        Self::StateFreed,
        Self::EffectFailed,
    ];

    /// The CloudEvents type: `dev.yuba.run.applied`.
    pub fn as_type(self) -> &'static str {
        match self {
            Self::RunQueued => "dev.yuba.run.queued",
            Self::ApprovalRequested => "dev.yuba.approval.requested",
            Self::AdoptionRequested => "dev.yuba.adoption.requested",
            Self::PlanDecided => "dev.yuba.plan.decided",
            Self::ApplyStarted => "dev.yuba.apply.started",
            Self::RunUnchanged => "dev.yuba.run.unchanged",
            Self::RunPlanned => "dev.yuba.run.planned",
            Self::RunApplied => "dev.yuba.run.applied",
            Self::RunFailed => "dev.yuba.run.failed",
            Self::StackRecovered => "dev.yuba.stack.recovered",
            Self::RetriesPaused => "dev.yuba.retries.paused",
            Self::RunDropped => "dev.yuba.run.dropped",
            Self::DriftDetected => "dev.yuba.drift.detected",
            Self::DriftAnswered => "dev.yuba.drift.answered",
            Self::DriftEscalated => "dev.yuba.drift.escalated",
            Self::DriftResolved => "dev.yuba.drift.resolved",
            Self::StackVanished => "dev.yuba.stack.vanished",
            Self::ManifestFaulty => "dev.yuba.manifest.faulty",
            Self::ManifestMended => "dev.yuba.manifest.mended",
            Self::StateShared => "dev.yuba.state.shared",
            Self::StateFreed => "dev.yuba.state.freed",
            Self::EffectFailed => "dev.yuba.effect.failed",
        }
    }

    /// How grave it is, as alerts filter.
    pub fn severity(self) -> EventSeverity {
        match self {
            Self::RunFailed
            | Self::RetriesPaused
            | Self::DriftDetected
            | Self::ManifestFaulty
            | Self::StateShared
            | Self::EffectFailed => EventSeverity::Error,
            Self::DriftEscalated => EventSeverity::Critical,
            Self::ApprovalRequested | Self::AdoptionRequested | Self::StackVanished => EventSeverity::Warning,
            Self::RunQueued
            | Self::PlanDecided
            | Self::ApplyStarted
            | Self::RunUnchanged
            | Self::RunPlanned
            | Self::RunApplied
            | Self::RunDropped
            | Self::StackRecovered
            | Self::DriftAnswered
            | Self::DriftResolved
            | Self::ManifestMended
            | Self::StateFreed => EventSeverity::Info,
        }
    }

    /// Whether the run's own record tells all of it: then one message that shows the run is enough.
    pub fn is_told_by_run(self) -> bool {
        !matches!(
            self,
            Self::RetriesPaused
                | Self::DriftEscalated
                | Self::StackVanished
                | Self::ManifestFaulty
                | Self::ManifestMended
                | Self::StateShared
                | Self::StateFreed
                | Self::EffectFailed
        )
    }

    /// What happened in two words: `approval requested`.
    pub fn words(self) -> String {
        self.as_type().trim_start_matches("dev.yuba.").replace('.', " ")
    }
}

/// How grave an event is: each includes those below it where alerts filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventSeverity {
    /// Something happened as it should.
    Info,
    /// Somebody is waited for.
    Warning,
    /// Something is wrong.
    Error,
    /// Something has been wrong for long, and nobody looks after it.
    Critical,
}

impl EventSeverity {
    /// All of them, the least grave first.
    pub const ALL: [Self; 4] = [Self::Info, Self::Warning, Self::Error, Self::Critical];

    /// `info`, `warning`, `error` or `critical`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
        }
    }
}
