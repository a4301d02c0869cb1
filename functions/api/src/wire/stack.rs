//! Stacks, as lists and `describe` show them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{CommitView, LockView, RunItem};

/// A stack in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StackItem {
    /// The manifest's namespace.
    pub namespace: String,
    /// The manifest's name.
    pub name: String,
    /// `True`, `False` or `Unknown`, as kubectl shows a Ready condition.
    pub ready: String,
    /// The state of the current or last run; empty before the first.
    pub state: String,
    /// The sentence people see.
    pub status: String,
    /// The revision of the current run, else the one that was applied last.
    pub revision: Option<String>,
    /// The plan that waits for a decision, or would put the drift that stands right, as `approve` takes it.
    pub plan: Option<String>,
    /// The run that has not ended yet, else the one that found the drift that stands.
    pub run: Option<String>,
    /// Whether a person or the manifest lets no new run start.
    pub suspended: bool,
    /// How many resources drifted; 0 without drift.
    pub drift: u32,
    /// The source that holds its code.
    pub source: Option<String>,
    /// Its directory in that source.
    pub path: Option<String>,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Whether no manifest names it any more.
    pub vanished: bool,
    /// When it became known.
    pub created_at: String,
    /// When its record last changed.
    pub updated_at: String,
}

/// A stack with all that is known of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StackDetail {
    /// As lists show it.
    pub stack: StackItem,
    /// Its id.
    pub id: String,
    /// What the manifests say.
    pub definition: Option<DefinitionView>,
    /// What Git holds.
    pub observation: Option<ObservationView>,
    /// Why nothing newer of its code can be seen, and when its source is looked at next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_trouble: Option<String>,
    /// Where its state lies, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_address: Option<String>,
    /// What was last applied.
    pub applied: Option<AppliedView>,
    /// What the run under way waits for; empty where there is none.
    pub waits_for: String,
    /// Drift that stands.
    pub drift: Option<DriftReport>,
    /// When reality was last compared with Git.
    pub checked_at: Option<String>,
    /// A person's suspension.
    pub suspended_by: Option<SignedView>,
    /// Failures in a row.
    pub retry: Option<RetryView>,
    /// The lock that stood in the way of the last run.
    pub lock: Option<LockView>,
    /// Effects of past decisions that are still to do, with what went wrong.
    pub pending: Vec<String>,
    /// The last runs, newest first.
    pub runs: Vec<RunItem>,
}

/// What the manifests say of a stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DefinitionView {
    /// Where it stands: `flux/dev.yaml:12`.
    pub place: String,
    /// The set of manifests that holds it.
    pub set: String,
    /// The set's snapshot it was taken from.
    pub snapshot: u64,
    /// The source that holds its code.
    pub source: String,
    /// Its directory.
    pub path: String,
    /// Its workspace.
    pub workspace: String,
    /// `manual`, `auto`, `disable` or a plan id.
    pub approve_plan: String,
    /// How often reality is compared with Git.
    pub interval: String,
    /// Why no plan of it is applied whatever people say.
    pub planned_only_because: Option<String>,
    /// Whether the manifest suspends it.
    pub suspend: bool,
    /// Stacks that must be up to date before it is planned.
    pub depends_on: Vec<String>,
    /// The engine that is asked for.
    pub engine: Option<String>,
    /// Fields that the manifest uses and that do not work yet.
    pub not_applied: Vec<String>,
    /// What is wrong with its document as it stands now, where that is held back: this is its last good version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_back: Option<String>,
}

/// What Git holds for a stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ObservationView {
    /// The source's number for this look.
    pub number: u64,
    /// The revision.
    pub revision: String,
    /// The commit.
    pub commit: CommitView,
    /// What differs from the look before.
    pub changed: Vec<String>,
    /// Why this revision cannot be planned.
    pub problems: Vec<String>,
    /// What is odd in the closure and stands against no plan.
    pub notices: Vec<String>,
    /// When it was found.
    pub at: String,
}

/// What was last applied.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AppliedView {
    /// The revision.
    pub revision: String,
    /// The run that did it.
    pub run: String,
    /// The commit.
    pub commit: CommitView,
    /// When.
    pub at: String,
    /// Whether it was a destruction.
    pub destroyed: bool,
}

/// Why a stack was planned, or what a revision changed for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WhyView {
    /// The answer as people read it.
    pub text: String,
    /// The run it concerns.
    pub run: Option<String>,
    /// What the run was made for, or what the revision changed of the stack's closure.
    pub because: Vec<String>,
    /// What is odd in the closure and stands against no plan.
    pub notices: Vec<String>,
}

/// Drift that stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DriftReport {
    /// The run that found it.
    pub run: String,
    /// When it was first found.
    pub since: String,
    /// How many resources.
    pub resources: u32,
    /// What `approve` takes to put it right.
    pub plan: Option<String>,
    /// What changed outside, and what Git still wants, as people read it; the run's plan summary has it for programs.
    pub text: String,
}

/// Failures in a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RetryView {
    /// How many.
    pub failures: u32,
    /// When the next try is due; absent where only new input can mend it.
    pub due: Option<String>,
}

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SignedView {
    /// The person or program.
    pub who: String,
    /// When.
    pub at: String,
    /// Through which door.
    pub from: String,
    /// What they wrote beside it.
    pub message: String,
}
