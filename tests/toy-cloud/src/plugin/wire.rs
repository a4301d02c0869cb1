//! The messages of the plugin protocol, version 6, as far as the providers here speak it: names and field numbers of
//! <https://developer.hashicorp.com/terraform/plugin/terraform-plugin-protocol>. Fields that they have no use for
//! are left out; protobuf skips what it does not know.

use std::collections::HashMap;

use prost::Message;

/// A value in MessagePack (or JSON, which nobody sends here).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct DynamicValue {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) msgpack: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) json: Vec<u8>,
}

/// What a person is told.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Diagnostic {
    /// 1 is an error, 2 a warning.
    #[prost(int32, tag = "1")]
    pub(crate) severity: i32,
    #[prost(string, tag = "2")]
    pub(crate) summary: String,
    #[prost(string, tag = "3")]
    pub(crate) detail: String,
    #[prost(message, optional, tag = "4")]
    pub(crate) attribute: Option<AttributePath>,
}

/// Where in a resource something is.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct AttributePath {
    #[prost(message, repeated, tag = "1")]
    pub(crate) steps: Vec<Step>,
}

/// A step of a path; of the three kinds of steps only names are used.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Step {
    #[prost(string, optional, tag = "1")]
    pub(crate) attribute_name: Option<String>,
}

/// The schema of the provider, a resource or a data source.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Schema {
    #[prost(int64, tag = "1")]
    pub(crate) version: i64,
    #[prost(message, optional, tag = "2")]
    pub(crate) block: Option<SchemaBlock>,
}

/// Attributes and nested blocks.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SchemaBlock {
    #[prost(message, repeated, tag = "2")]
    pub(crate) attributes: Vec<SchemaAttribute>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) block_types: Vec<NestedBlock>,
}

/// One attribute; `type` is JSON, such as `["map","string"]`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SchemaAttribute {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(bytes = "vec", tag = "2")]
    pub(crate) ty: Vec<u8>,
    #[prost(bool, tag = "4")]
    pub(crate) required: bool,
    #[prost(bool, tag = "5")]
    pub(crate) optional: bool,
    #[prost(bool, tag = "6")]
    pub(crate) computed: bool,
    #[prost(bool, tag = "7")]
    pub(crate) sensitive: bool,
}

/// A nested block; nesting 1 is a single one, 2 a list, 3 a set. At most 0 means any number.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct NestedBlock {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) block: Option<SchemaBlock>,
    #[prost(int32, tag = "3")]
    pub(crate) nesting: i32,
    #[prost(int64, tag = "4")]
    pub(crate) min_items: i64,
    #[prost(int64, tag = "5")]
    pub(crate) max_items: i64,
}

/// A request without fields.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Empty {}

/// What the provider manages.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SchemaResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) provider: Option<Schema>,
    #[prost(map = "string, message", tag = "2")]
    pub(crate) resource_schemas: HashMap<String, Schema>,
    #[prost(map = "string, message", tag = "3")]
    pub(crate) data_source_schemas: HashMap<String, Schema>,
}

/// `ValidateProviderConfig`; the answer has its diagnostics in field 2.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ValidateProviderRequest {
    #[prost(message, optional, tag = "1")]
    pub(crate) config: Option<DynamicValue>,
}

/// See [`ValidateProviderRequest`].
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ValidateProviderResponse {
    #[prost(message, repeated, tag = "2")]
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// `ValidateResourceConfig` and `ValidateDataResourceConfig`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ValidateRequest {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) config: Option<DynamicValue>,
}

/// An answer of diagnostics alone.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct DiagnosticsResponse {
    #[prost(message, repeated, tag = "1")]
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// `ConfigureProvider`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ConfigureRequest {
    #[prost(message, optional, tag = "2")]
    pub(crate) config: Option<DynamicValue>,
}

/// `UpgradeResourceState`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct UpgradeRequest {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "3")]
    pub(crate) raw_state: Option<RawState>,
}

/// A state as it stands in the state file.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct RawState {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) json: Vec<u8>,
}

/// A state, and what was wrong: the answer to upgrade, read and data source requests.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct StateResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// `ReadResource`, and `ReadDataSource` with the configuration in place of the state.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ReadRequest {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) current: Option<DynamicValue>,
}

/// `PlanResourceChange`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct PlanRequest {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) prior_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub(crate) proposed_new_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "4")]
    pub(crate) config: Option<DynamicValue>,
}

/// See [`PlanRequest`].
#[derive(Clone, PartialEq, Message)]
pub(crate) struct PlanResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) planned_state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) requires_replace: Vec<AttributePath>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// `ApplyResourceChange`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ApplyRequest {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) prior_state: Option<DynamicValue>,
    #[prost(message, optional, tag = "3")]
    pub(crate) planned_state: Option<DynamicValue>,
}

/// See [`ApplyRequest`].
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ApplyResponse {
    #[prost(message, optional, tag = "1")]
    pub(crate) new_state: Option<DynamicValue>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// `ImportResourceState`.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ImportRequest {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(string, tag = "2")]
    pub(crate) id: String,
}

/// See [`ImportRequest`].
#[derive(Clone, PartialEq, Message)]
pub(crate) struct ImportResponse {
    #[prost(message, repeated, tag = "1")]
    pub(crate) imported_resources: Vec<Imported>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// A resource that was imported.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Imported {
    #[prost(string, tag = "1")]
    pub(crate) type_name: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) state: Option<DynamicValue>,
}

/// `StopProvider`'s answer: why stopping failed, empty if it did not.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct StopResponse {
    #[prost(string, tag = "1")]
    pub(crate) error: String,
}
