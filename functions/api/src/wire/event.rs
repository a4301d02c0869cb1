//! Events.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A fact that was published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EventItem {
    /// Its CloudEvents id.
    pub id: String,
    /// The stack's namespace.
    pub namespace: String,
    /// The stack's name.
    pub name: String,
    /// Orders it within its stack.
    pub number: u64,
    /// Its CloudEvents type: `dev.yuba.run.applied`.
    pub r#type: String,
    /// `info`, `warning` (somebody is waited for) or `error`.
    pub severity: String,
    /// The run it happened to.
    pub run: Option<String>,
    /// The revision it happened at.
    pub revision: Option<String>,
    /// The sentence people see.
    pub message: String,
    /// When.
    pub at: String,
}
