//! Runs: one attempt to bring a stack to a revision, from `queued` to a terminal state.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::id::{AttemptId, ContentDigest, Revision, RunId, StackId, StackName, TreeId};
use crate::job::{BeforePlan, stored_before_plan};
use crate::people::Identity;
use crate::plan::lock::written_time;
use crate::plan::summary::PlanReport;
use crate::record::{Index, IndexEntry, Key, Record};
use crate::request::{Decision, Signed};
use crate::source::{CommitFacts, Reason};
use crate::spec::StackSpec;
use crate::stack::Wanted;
use crate::time::Timestamp;

/// One attempt to bring a stack to a revision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// The stack.
    pub stack: StackId,
    /// The stack's name when it was made.
    pub name: StackName,
    /// Counts from 1 within the stack.
    pub number: u64,
    /// Of what kind it is.
    pub kind: RunKind,
    /// Where it stands.
    pub state: RunState,
    /// The revision it plans.
    pub revision: Revision,
    /// The revision's tree; names the artifact.
    pub tree: TreeId,
    /// The source's observation it came from.
    pub observation: u64,
    /// The commit, for people.
    pub commit: CommitFacts,
    /// Every author, committer and pusher of what it would bring.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub authors: BTreeSet<Identity>,
    /// The settings it runs under, as they were when it was made: it finishes under them.
    pub spec: StackSpec,
    /// What it was made for.
    pub wanted: Wanted,
    /// Why it was made.
    pub because: Vec<Reason>,
    /// Who asked for it, where somebody did.
    pub asked_by: Option<Signed>,
    /// All attempts so far, oldest first.
    pub attempts: Vec<AttemptNote>,
    /// The stored plan, once there is one, and the attempt that made it.
    pub plan: Option<StoredPlan>,
    /// What people decided.
    pub decisions: Vec<Decision>,
    /// The content its plan must have to be applied without asking again (drift that was approved or is put right).
    pub expects: Option<ContentDigest>,
    /// What its next plan attempt does to the backend first, in this order, where somebody asked for that.
    #[serde(default, rename = "before_plan", with = "stored_before_plan")]
    pub backend_first: Vec<BeforePlan>,
    /// Who cancelled it; it ends when its attempt has stopped.
    pub cancelled_by: Option<Signed>,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    /// What it waits for.
    pub waits_for: Waiting,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

impl Record for Run {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::run(self.stack, self.id)
    }
    fn indexes(&self) -> Vec<IndexEntry> {
        vec![IndexEntry::new(Index::Runs, self.id.to_string())]
    }
}

impl Run {
    /// The attempt that is out, if one is.
    pub fn attempt_out(&self) -> Option<AttemptId> {
        self.attempts.iter().find(|note| note.ended.is_none()).map(|note| note.id)
    }
}

/// Of what kind a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// Brings the stack to what Git wants.
    Tracked,
    /// Plans a pull request; never applies.
    Preview,
    /// Compares reality with what was last applied; never applies.
    Drift,
    /// Destroys what the state holds.
    Destroy,
}

impl fmt::Display for RunKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Tracked => "tracked",
            Self::Preview => "preview",
            Self::Drift => "drift",
            Self::Destroy => "destroy",
        })
    }
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Waits for the stack's turn, its dependencies, capacity or its retry time.
    Queued,
    /// A plan attempt is out, or its plan is being judged.
    Planning,
    /// A plan is stored and a decision is owed.
    AwaitingApproval,
    /// A first plan whose state may live elsewhere.
    AwaitingAdoption,
    /// An apply attempt is out.
    Applying,
    /// Planned, and never to be applied.
    Planned,
    /// The plan held nothing to do.
    Unchanged,
    /// Applied.
    Applied,
    /// A drift check found drift.
    Drifted,
    /// It failed.
    Failed,
    /// A policy said no.
    Denied,
    /// A person said no.
    Discarded,
    /// A person stopped it.
    Cancelled,
    /// Something newer took its place.
    Superseded,
}

impl RunState {
    /// All of them, in the order in which a run can reach them.
    pub const ALL: [Self; 14] = [
        Self::Queued,
        Self::Planning,
        Self::AwaitingApproval,
        Self::AwaitingAdoption,
        Self::Applying,
        Self::Planned,
        Self::Unchanged,
        Self::Applied,
        Self::Drifted,
        Self::Failed,
        Self::Denied,
        Self::Discarded,
        Self::Cancelled,
        Self::Superseded,
    ];

    /// Whether nothing can happen to the run any more.
    pub fn is_terminal(self) -> bool {
        !matches!(
            self,
            Self::Queued | Self::Planning | Self::AwaitingApproval | Self::AwaitingAdoption | Self::Applying
        )
    }
}

/// A word that names no state of a run; it tells which there are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no run is ever `{word}`; the states are {}", RunState::ALL.map(|state| state.to_string()).join(", "))]
pub struct NoRunState {
    /// The word.
    pub word: String,
}

impl FromStr for RunState {
    type Err = NoRunState;

    fn from_str(word: &str) -> Result<Self, NoRunState> {
        let meant = Self::ALL.into_iter().find(|state| state.to_string() == word);
        meant.ok_or_else(|| NoRunState { word: word.to_owned() })
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Queued => "queued",
            Self::Planning => "planning",
            Self::AwaitingApproval => "awaiting-approval",
            Self::AwaitingAdoption => "awaiting-adoption",
            Self::Applying => "applying",
            Self::Planned => "planned",
            Self::Unchanged => "unchanged",
            Self::Applied => "applied",
            Self::Drifted => "drifted",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Discarded => "discarded",
            Self::Cancelled => "cancelled",
            Self::Superseded => "superseded",
        })
    }
}

/// What a run waits for, at any time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Waiting {
    /// Nothing: it has ended.
    Nothing,
    /// A task that was asked for has not claimed yet.
    Claim,
    /// The report of an attempt.
    Report,
    /// A decision, on this plan.
    Approval,
    /// Approvals that the stack's rules demand: each that is still missing, for people.
    Approvals(Vec<String>),
    /// A window of time in which plans may be applied.
    Window {
        /// Which rule says so, for people.
        why: String,
        /// When one opens; `None` where none ever does.
        opens: Option<Timestamp>,
    },
    /// A freeze to end.
    Freeze {
        /// Which, why, and until when, for people.
        why: String,
        /// When it ends; `None` where that is not known.
        until: Option<Timestamp>,
    },
    /// A person's word on where the state lives.
    Adoption,
    /// Stacks it depends on, each with why.
    Dependencies(Vec<String>),
    /// Its next try.
    Retry {
        /// When that is due.
        at: Timestamp,
    },
    /// The suspension to end.
    Resume,
    /// The installation's pause to end.
    Unpause,
    /// Its state to be named by no other stack: who names it too.
    SharedState(String),
}

impl Waiting {
    /// What is waited for, for people; empty for nothing.
    pub fn words(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Claim => "a task to start".to_owned(),
            Self::Report => "the report of its attempt".to_owned(),
            Self::Approval => "approval".to_owned(),
            Self::Approvals(needed) => needed.join("; "),
            Self::Window { why, .. } => why.clone(),
            Self::Freeze { why, .. } => format!("the end of {why}"),
            Self::Adoption => {
                "a word on its state: `yuba adopt STACK` (--new, --state FILE or --from STACK)".to_owned()
            }
            Self::Dependencies(stacks) => format!("its dependencies: {}", stacks.join("; ")),
            Self::Retry { at } => format!("its next try at {at}"),
            Self::Resume => "`yuba resume`".to_owned(),
            Self::SharedState(why) => format!("its state to be its own: {why}"),
            Self::Unpause => "`yuba unpause --all`".to_owned(),
        }
    }
}

/// A plan that is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPlan {
    /// The attempt that made it and under whose name it lies.
    pub attempt: AttemptId,
    /// What decisions read of it.
    pub report: PlanReport,
    /// When it was reported.
    pub at: Timestamp,
}

/// An attempt, as its run remembers it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptNote {
    /// The attempt.
    pub id: AttemptId,
    /// When it was made.
    pub since: Timestamp,
    /// When and how it ended; `None` while it is out.
    pub ended: Option<AttemptEnd>,
}

/// When and how an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptEnd {
    /// When.
    pub at: Timestamp,
    /// How: `reported`, `failed: …`, `lost: …`.
    pub how: String,
}

/// Why a run or an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What may mend it.
    pub class: FailureClass,
    /// One line: what happened, where.
    pub message: String,
    /// More lines, as the engine wrote them, masked and cut to 4,000 characters; may be empty.
    pub detail: String,
    /// The lock that stood in the way.
    pub lock: Option<LockHeld>,
    /// A state that could not be saved was stored as `errored.tfstate`; `yuba recover` pushes it.
    pub errored_state: bool,
}

/// What may mend a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureClass {
    /// Only new input: the configuration is wrong.
    Configuration,
    /// Only new input: access was denied.
    AccessDenied,
    /// Time: a state lock is held.
    Locked,
    /// A new plan: the stored one no longer fits the state.
    StalePlan,
    /// Time: anything else.
    Transient,
    /// Time: the task stopped without a report.
    Lost,
    /// Time: it took longer than its bound.
    TimedOut,
    /// Whoever asked: the backend refused what was to be done to it before the plan.
    Refused,
    /// The source, by storing it again: the stored code of the revision is missing or damaged.
    Artifact,
}

impl FailureClass {
    /// Whether waiting can mend it.
    pub fn mends_by_itself(self) -> bool {
        !matches!(self, Self::Configuration | Self::AccessDenied)
    }
}

/// A lock in a backend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHeld {
    /// Its id, as `force-unlock` takes it.
    pub id: String,
    /// Who holds it, as the backend says: `user@host`.
    pub who: String,
    /// What for: `OperationTypeApply`.
    pub operation: String,
    /// Since when, as the backend writes it.
    pub created: String,
}

impl LockHeld {
    /// Since when it is held: RFC 3339 where the backend's time could be read, else what the backend writes.
    pub fn since(&self) -> String {
        written_time(&self.created).map_or_else(|| self.created.clone(), |at| at.to_string())
    }

    /// Who holds it for what, since when, and how long that is now; for people.
    pub fn words(&self, now: Timestamp) -> String {
        let age = written_time(&self.created).map(|at| format!(", {} ago", now.since(at).to_age()));
        format!(
            "held by {} for {} since {}{}",
            self.who,
            self.operation,
            self.since(),
            age.unwrap_or_default()
        )
    }
}
