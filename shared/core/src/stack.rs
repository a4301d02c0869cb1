//! A stack's own record: what it was last planned and applied for, what is wrong, what it waits for, and the effects
//! of its decisions that are still to do. Only the orchestrator writes it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::audit::AuditHead;
use crate::effect::{Effect, PendingEffect};
use crate::id::{
    AttemptId, ClosureDigest, ContentDigest, InputsDigest, PlanId, Revision, RunId, StackId, StackName,
    TreeId,
};
use crate::job::BeforePlan;
use crate::record::{Index, IndexEntry, Key, Record};
use crate::request::{Adoption, Decision, DecisionVerdict, Signed};
use crate::run::{FailureClass, RunKind};
use crate::source::{CommitFacts, Reason};
use crate::spec::{StackSpec, WriteOutputs};
use crate::time::Timestamp;

/// One root module with its settings and its own state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stack {
    /// Its id.
    pub id: StackId,
    /// Its name as the manifest has it now.
    pub name: StackName,
    /// The run that has not ended yet.
    pub run: Option<RunId>,
    /// The run that was made last.
    pub latest: Option<RunId>,
    /// How many runs were made.
    pub runs: u64,
    /// How many events were made; numbers them.
    pub events: u64,
    /// The last entry of its chain in the audit trail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditHead>,
    /// What the last run that brought (or is to bring) the stack to a revision was made for.
    pub planned: Option<Wanted>,
    /// What was last applied, or found to need no change.
    pub applied: Option<Applied>,
    /// When reality was last compared with Git, by any plan that ended well.
    pub checked_at: Option<Timestamp>,
    /// Drift that was found and is not gone.
    pub drift: Option<DriftState>,
    /// What somebody answered to drift last. It counts for that content alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift_decision: Option<Decision>,
    /// A person's suspension.
    pub suspended: Option<Signed>,
    /// What was settled about a state whose place nobody named.
    pub adopted: Option<Adoption>,
    /// Under which stack's id the installation keeps its state, where nobody names a backend and that is not its own: it
    /// went on under the state of a stack that vanished, which got this one's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_kept_as: Option<StackId>,
    /// Which stack goes on under the state that this one had, until something begins under this name again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_to: Option<HandedTo>,
    /// The last plan found something in its state, or something was applied or imported since.
    #[serde(default)]
    pub holds_resources: bool,
    /// Versions of the secrets that open hosts, as they were when it was last planned or applied, by `Secret namespace/name`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hosts_seen: BTreeMap<String, String>,
    /// Failures in a row, and when the next try is due.
    pub retry: Option<Retry>,
    /// A run that somebody asked for and that could not be made yet.
    pub asked: Option<AskedRun>,
    /// What somebody asked to be done to the backend before the next plan, in this order. It stands until a plan that
    /// did it is stored, the backend has refused it, or somebody asks for a plan without it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backend_first: Vec<BeforePlan>,
    /// The first plan of each of the last plan ids, newest last: an id without a digest means that one.
    pub first_plans: Vec<FirstPlan>,
    /// Content of drift that was put right and has not been seen gone since: the same again is reported, not repeated.
    pub remediated: Option<ContentDigest>,
    /// What is wrong with its document, as it was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_back: Option<String>,
    /// Since when no manifest names it, as it was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vanished: Option<Timestamp>,
    /// The stack that names the same state, while there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares_state_with: Option<StackName>,
    /// Where outputs were written after the last apply.
    pub outputs_written: Option<WriteOutputs>,
    /// When the stack must be looked at next.
    pub due: Option<Timestamp>,
    /// Effects of past decisions that are still to do, oldest first.
    pub outbox: Vec<PendingEffect>,
    /// How many effects were given up.
    #[serde(default)]
    pub given_up: u64,
    /// How the stack stands, for lists.
    pub shown: Shown,
    /// How it stood when its last run ended.
    pub settled: Shown,
    /// When this record last changed.
    pub updated_at: Timestamp,
}

impl Stack {
    /// A stack that was never looked at.
    pub fn new(id: StackId, name: StackName, now: Timestamp) -> Self {
        Self {
            id,
            name,
            run: None,
            latest: None,
            runs: 0,
            events: 0,
            audit: None,
            planned: None,
            applied: None,
            checked_at: None,
            drift: None,
            drift_decision: None,
            suspended: None,
            adopted: None,
            state_kept_as: None,
            handed_to: None,
            holds_resources: false,
            hosts_seen: BTreeMap::new(),
            retry: None,
            asked: None,
            backend_first: Vec::new(),
            first_plans: Vec::new(),
            remediated: None,
            held_back: None,
            vanished: None,
            shares_state_with: None,
            outputs_written: None,
            due: None,
            outbox: Vec::new(),
            given_up: 0,
            shown: Shown::default(),
            settled: Shown::default(),
            updated_at: now,
        }
    }

    /// Under which stack's id the installation keeps its state, where nobody names a backend.
    pub fn state_id(&self) -> StackId {
        self.state_kept_as.unwrap_or(self.id)
    }

    /// What somebody answered to the drift that stands, while that is in force.
    pub fn drift_answer(&self, now: Timestamp) -> Option<&Decision> {
        let content = self.drift.as_ref()?.content;
        let in_force = |decision: &&Decision| match decision.verdict {
            DecisionVerdict::Ignore { until } => until > now,
            DecisionVerdict::Acknowledge => true,
            DecisionVerdict::Approve | DecisionVerdict::Reject => false,
        };
        self.drift_decision.as_ref().filter(|decision| decision.content == content).filter(in_force)
    }

    /// What the last try to start the task of an attempt said, and when the next one is due; for people.
    pub fn start_trouble(&self, attempt: AttemptId) -> Option<String> {
        let start = Effect::StartTask { attempt };
        let pending = self.outbox.iter().find(|pending| pending.effect == start && !pending.given_up)?;
        Some(format!("{}; next try at {}", pending.trouble.as_ref()?, pending.due))
    }

    /// Whether its state may hold anything.
    pub fn may_hold(&self) -> bool {
        self.holds_resources || self.applied.as_ref().is_some_and(|applied| !applied.destroyed)
    }
}

/// The stack that goes on under the state that another had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedTo {
    /// The stack.
    pub stack: StackId,
    /// Its name.
    pub name: StackName,
}

impl Record for Stack {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::stack(self.id)
    }
    fn indexes(&self) -> Vec<IndexEntry> {
        let oldest_effect = self.outbox.iter().map(|effect| effect.since).min();
        [IndexEntry::new(Index::Stacks, self.name.to_string())]
            .into_iter()
            .chain(self.due.map(|due| IndexEntry::at(Index::Due, due)))
            .chain(oldest_effect.map(|since| IndexEntry::at(Index::Effects, since)))
            .collect()
    }
}

/// Everything that can change a plan: when it is equal, planning again can find only drift.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// The closure in Git.
    pub closure: ClosureDigest,
    /// The settings of the manifest that a plan depends on; never approvePlan, suspend or intervals.
    pub settings: InputsDigest,
    /// Versions of the secrets and config maps it reads, by `Kind namespace/name`.
    pub values: BTreeMap<String, String>,
    /// Why the revision cannot be planned; that is over when Git or somebody mends it.
    pub problems: Vec<String>,
}

/// What was last applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// The run that did it.
    pub run: RunId,
    /// The revision.
    pub revision: Revision,
    /// Its tree.
    pub tree: TreeId,
    /// The observation it came from.
    pub observation: u64,
    /// What it was made for.
    pub wanted: Wanted,
    /// The settings it was applied under.
    pub spec: StackSpec,
    /// The commit, for people.
    pub commit: CommitFacts,
    /// When.
    pub at: Timestamp,
    /// Whether it was a destruction: there is nothing whose drift could be checked.
    pub destroyed: bool,
}

/// Drift that stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriftState {
    /// The run that found it last.
    pub run: RunId,
    /// When it was first found.
    pub since: Timestamp,
    /// How many resources.
    pub resources: u32,
    /// What content a run that puts it right must have.
    pub content: ContentDigest,
    /// How many checks in a row found drift.
    pub checks: u32,
    /// Whether it became critical.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub escalated: bool,
}

/// Failures in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retry {
    /// How many.
    pub failures: u32,
    /// Of what class the last one was.
    pub class: FailureClass,
    /// Of what kind the run was that failed.
    pub kind: RunKind,
    /// When the next try is due; `None` where only new input can mend it.
    pub due: Option<Timestamp>,
    /// Names the error: see [`crate::trouble`].
    pub signature: String,
    /// An apply left a state behind that its backend does not hold. Only what a person asks for is planned until a plan
    /// has gone well: any other plan would start from a state that lacks what that apply made.
    #[serde(default)]
    pub unsaved: bool,
    /// The run whose apply left it behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_by: Option<RunId>,
}

/// A run that somebody asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedRun {
    /// Of what kind.
    pub kind: RunKind,
    /// Who asked.
    pub by: Signed,
    /// The reason that the run will show.
    pub because: Reason,
    /// The content its plan must have to be applied at once, where drift was approved.
    pub expects: Option<ContentDigest>,
}

/// The first plan that had a plan id. Another with the same id (of other inputs, of drift, of a destruction) is only
/// meant by the id together with its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FirstPlan {
    /// The plan id.
    pub plan: PlanId,
    /// Its content.
    pub content: ContentDigest,
}

/// How a stack stands, as lists show it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// As kubectl shows a Ready condition.
    pub ready: Ready,
    /// The state of its current or last run, in the words of the state table; empty before the first.
    pub state: String,
    /// The sentence people see.
    pub status: String,
}

/// As kubectl shows a Ready condition.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ready {
    /// Reality equals Git as far as is known.
    True,
    /// It does not, and somebody should look.
    False,
    /// Work is under way, or nothing is known yet.
    #[default]
    Unknown,
}
