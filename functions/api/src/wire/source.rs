//! Sources.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A source in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SourceItem {
    /// The manifest's namespace.
    pub namespace: String,
    /// The manifest's name.
    pub name: String,
    /// `True`, `False` or `Unknown`, as kubectl shows a Ready condition.
    pub ready: String,
    /// The sentence people see.
    pub status: String,
    /// Where the repository lies, without credentials.
    pub url: String,
    /// The branch, tag or commit that is followed.
    pub reference: String,
    /// The revision that was found last.
    pub revision: Option<String>,
    /// When that was found.
    pub found_at: Option<String>,
    /// When it is looked at next.
    pub due: Option<String>,
    /// Whether the manifest forbids looking.
    pub suspended: bool,
}
