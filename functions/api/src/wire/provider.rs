//! Providers of notifications.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A provider in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProviderItem {
    /// The manifest's namespace.
    pub namespace: String,
    /// The manifest's name.
    pub name: String,
    /// The service that delivers: `slack`.
    pub r#type: String,
    /// `True`, `False` or `Unknown`, as kubectl shows a Ready condition.
    pub ready: String,
    /// The sentence people see: why it is not ready.
    pub status: String,
    /// When it last took a message.
    pub last_success: Option<String>,
    /// Why it last did not.
    pub last_error: Option<String>,
    /// When that was.
    pub last_error_at: Option<String>,
    /// Until when nothing is sent to it, where it is held up.
    pub held_until: Option<String>,
    /// How many notifications wait; counted up to 100.
    pub pending: usize,
    /// How many were given up and can be redelivered; counted up to 100.
    pub given_up: usize,
}

/// What was made to wait again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Redelivered {
    /// How many notifications.
    pub count: usize,
}
