//! Runs, as lists and `show run` show them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::SignedView;

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunItem {
    /// Its id.
    pub id: String,
    /// The stack's namespace.
    pub namespace: String,
    /// The stack's name.
    pub name: String,
    /// Counts from 1 within the stack.
    pub number: u64,
    /// `tracked`, `preview`, `drift`, `destroy`.
    pub kind: String,
    /// A word of the state table.
    pub state: String,
    /// The revision it plans.
    pub revision: String,
    /// The plan, as `approve` takes it.
    pub plan: Option<String>,
    /// What the plan does, in short: `2 to add, 1 to destroy`.
    pub changes: Option<String>,
    /// Why it was made.
    pub because: String,
    /// When it was made.
    pub created_at: String,
    /// When it ended.
    pub ended_at: Option<String>,
}

/// A run with all that is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunDetail {
    /// As lists show it.
    pub run: RunItem,
    /// The commit.
    pub commit: CommitView,
    /// All reasons it was made for.
    pub because: Vec<String>,
    /// Who asked for it.
    pub asked_by: Option<SignedView>,
    /// What it waits for; empty once it has ended.
    pub waits_for: String,
    /// Its attempts, oldest first.
    pub attempts: Vec<AttemptView>,
    /// How far the attempt that is out says it is.
    pub progress: Option<ProgressView>,
    /// The stored plan.
    pub plan: Option<PlanView>,
    /// What people decided.
    pub decisions: Vec<DecisionView>,
    /// Why it failed.
    pub failure: Option<FailureView>,
    /// When it last changed.
    pub updated_at: String,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CommitView {
    /// Its id.
    pub id: String,
    /// `Name <address>`.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
}

/// An attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AttemptView {
    /// Its id.
    pub id: String,
    /// `plan` or `apply`.
    pub phase: String,
    /// When it was made.
    pub since: String,
    /// When it ended.
    pub ended_at: Option<String>,
    /// How it ended.
    pub how: Option<String>,
}

/// How far an attempt says it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProgressView {
    /// `plan` or `apply`.
    pub phase: String,
    /// `init`, `plan`, `show`, `apply`, `output`.
    pub step: String,
    /// Resources done.
    pub done: u32,
    /// Resources in all, where known.
    pub total: Option<u32>,
    /// The address it works on.
    pub current: Option<String>,
}

/// A stored plan, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PlanView {
    /// What people type to approve it.
    pub id: String,
    /// The content digest that is approved.
    pub content: String,
    /// What it does, in short.
    pub changes: String,
    /// Whether it would do anything.
    pub has_changes: bool,
    /// The engine that made it: `terraform 1.11.4`.
    pub engine: String,
    /// Things people should know.
    pub notices: Vec<String>,
    /// When it was stored.
    pub at: String,
}

/// What somebody decided about a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DecisionView {
    /// `approve` or `reject`.
    pub verdict: String,
    /// The content digest it counts for.
    pub content: String,
    /// Who, when, from where, why.
    pub by: SignedView,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FailureView {
    /// What may mend it: `configuration`, `access-denied`, `locked`, …
    pub class: String,
    /// One line: what happened, where.
    pub message: String,
    /// More lines, as the engine wrote them.
    pub detail: String,
    /// The lock that stood in the way.
    pub lock: Option<LockView>,
    /// Whether a state was left behind that `recover` pushes.
    pub recoverable: bool,
}

/// A lock in a backend.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LockView {
    /// Its id, as `unlock` takes it.
    pub id: String,
    /// Who holds it.
    pub who: String,
    /// What for.
    pub operation: String,
    /// Since when: RFC 3339 where the backend's time could be read, else what the backend writes.
    pub created: String,
}
