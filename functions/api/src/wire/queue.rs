//! Dead letters: messages that could not be handled.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A message that could not be handled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeadLetterItem {
    /// Names it within its queue.
    pub id: String,
    /// Whom it would wake: `stack#…`, `source#…`, `manifests#…`; empty where it cannot be read.
    pub group: String,
    /// Since when it is a dead letter.
    pub since: String,
    /// Why it could not be handled; absent where AWS moved it, as what ended its function does not tell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
    /// What was sent.
    pub message: String,
}

/// How many dead letters were sent again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Redriven {
    /// How many; at most 1,000 at once. Whether they can be handled now shows later.
    pub redriven: usize,
}
