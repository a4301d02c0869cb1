//! Places of manifests.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A configured place of manifests, and what is wrong with its documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ManifestSetItem {
    /// What was given to `--manifests`, without credentials.
    pub name: String,
    /// `True`, `False` or `Unknown`, as kubectl shows a Ready condition.
    pub ready: String,
    /// The sentence people see.
    pub status: String,
    /// How many errors there are; each holds a document back.
    pub errors: u32,
    /// How many warnings there are.
    pub warnings: u32,
    /// How many notices there are.
    pub notices: u32,
    /// The number of the snapshot that was taken over last.
    pub snapshot: u64,
    /// What was found, errors first: `file:line:column: severity: message`. The first 200.
    pub findings: Vec<String>,
    /// When it is looked at next.
    pub due: Option<String>,
}
