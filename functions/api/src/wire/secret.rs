//! Secrets and config maps: names and keys; values go in and never come out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A secret or config map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SecretItem {
    /// `Secret` or `ConfigMap`.
    pub kind: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its keys, without their values.
    pub keys: Vec<String>,
}

/// Values to write.
#[derive(Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretBody {
    /// New values by key; keys that are not named keep theirs.
    pub values: BTreeMap<String, String>,
}
