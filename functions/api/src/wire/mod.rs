//! What the API says and hears, as JSON. These types are the API's own: stored records may change without them.
//!
//! Names, ids and revisions are texts in the forms that people type; times are RFC 3339 in UTC.

mod event;
mod manifests;
mod plan;
mod provider;
mod queue;
mod recovery;
mod request;
mod run;
mod secret;
mod source;
mod stack;
mod token;

pub use event::EventItem;
pub use manifests::ManifestSetItem;
pub use plan::{Inventory, InventoryEntry, Output, Outputs};
pub use provider::{ProviderItem, Redelivered};
pub use queue::{DeadLetterItem, Redriven};
pub use recovery::{RecoveryView, StateView};
pub use request::{AskBody, Asked, InstallationState, PatchBody, PatchSpec, PauseBody, RequestState};
pub use run::{AttemptView, CommitView, DecisionView, FailureView, LockView, PlanView, ProgressView};
pub use run::{RunDetail, RunItem};
pub use secret::{SecretBody, SecretItem};
pub use source::SourceItem;
pub use stack::{AppliedView, DefinitionView, DriftReport, ObservationView, RetryView, SignedView};
pub use stack::{StackDetail, StackItem, WhyView};
pub use token::{TokenBody, TokenItem, TokenMade};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// One page of a list.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct List<T> {
    /// The items; fewer than asked for may come while there are more.
    pub items: Vec<T>,
    /// Give it as `cursor` to go on; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
}

/// What went wrong with a request (RFC 9457, `application/problem+json`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProblemBody {
    /// What happened, in short.
    pub title: String,
    /// The HTTP status again.
    pub status: u16,
    /// What happened, where.
    pub detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub help: Option<String>,
    /// Stands in the server's log beside the cause, where the fault is the server's.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
}
