//! What stacks hold.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The outputs of a stack, as its last apply stored them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Outputs {
    /// By name.
    pub items: Vec<Output>,
}

/// One output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// Whether its value must not be shown unasked.
    pub sensitive: bool,
    /// Its value; absent where it is sensitive and was not asked for.
    pub value: Option<Value>,
}

/// What a stack's state holds, as its last apply stored it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Inventory {
    /// By address.
    pub items: Vec<InventoryEntry>,
}

/// One resource that a stack manages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct InventoryEntry {
    /// Its address.
    pub address: String,
    /// Its type.
    #[serde(default)]
    pub r#type: String,
    /// Its id, where it has one.
    #[serde(default)]
    pub id: Option<String>,
}
