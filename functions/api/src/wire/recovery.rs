//! A state that an apply left behind, before somebody pushes it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What `recover` would push, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecoveryView {
    /// The stack's namespace.
    pub namespace: String,
    /// The stack's name.
    pub name: String,
    /// The attempt that left the state behind.
    pub attempt: String,
    /// Where it would be pushed to.
    pub target: String,
    /// The state; absent where what is stored cannot be read as one.
    pub state: Option<StateView>,
}

/// A state, without any value that it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StateView {
    /// Counts its writes.
    pub serial: u64,
    /// Names it from its first write on.
    pub lineage: String,
    /// The addresses of what it manages; absent where it is encrypted.
    pub resources: Option<Vec<String>>,
}
