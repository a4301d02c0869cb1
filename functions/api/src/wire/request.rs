//! What people ask for through the API, and what became of it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The body of everything that asks for a change of a stack or run. Every field may be left out unless the verb needs it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AskBody {
    /// Who asks: a login, an e-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Through which door: `cli`, `api`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What they write beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// For `approve`: the plan that was seen, `plan-main-0123456789` or with `@` and the first 12 digits of its digest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// For `unlock`: the lock's id; left out, the one that the last run reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lock: Option<String>,
    /// For `cancel`: the run that was seen. For `recover`: the run that left the state behind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// For `adopt`: the text of the state file to start from. Without it and `from_stack` the stack starts with an empty
    /// state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_file: Option<String>,
    /// For `adopt`: `namespace/name` of a stack that vanished from the manifests and whose state is kept here: this one
    /// goes on under it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_stack: Option<String>,
}

/// The answer to something that asks for a change: accepted, not decided yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Asked {
    /// The request's id.
    pub request: String,
    /// Where to look for what became of it.
    pub location: String,
}

/// A request, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RequestState {
    /// Its id.
    pub id: String,
    /// `pending`, `done` or `refused`.
    pub outcome: String,
    /// What happened, or why it was refused and what to do.
    pub message: String,
    /// The run it concerns.
    pub run: Option<String>,
    /// Whether the run that comes of it is still to be made.
    #[serde(default)]
    pub run_to_come: bool,
}

/// A merge patch (RFC 7396) of a stack, as kubectl sends it. Only `spec.approvePlan` and `spec.suspend` may be patched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PatchBody {
    /// The part of the spec that is patched.
    pub spec: PatchSpec,
}

/// The fields that may be patched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct PatchSpec {
    /// A plan id: approves that plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approve_plan: Option<String>,
    /// Suspends the stack, or takes a person's suspension back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspend: Option<bool>,
}

/// The body of `pause`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PauseBody {
    /// Who asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Through which door.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What holds for the whole installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InstallationState {
    /// Who stopped all new applies, if they are stopped.
    pub paused: Option<super::SignedView>,
}
