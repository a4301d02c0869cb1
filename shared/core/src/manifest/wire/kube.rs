//! What Yuba reads of Kubernetes' own kinds.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::manifest::format;

/// `metadata` of any object.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Metadata {
    /// The object's name, unique within kind and namespace.
    #[schemars(with = "format::ObjectName")]
    pub name: String,
    /// The object's namespace; `default` if it names none.
    #[schemars(with = "Option<format::Namespace>")]
    pub namespace: Option<String>,
    /// Labels, by which commands and alerts choose.
    pub labels: Option<BTreeMap<String, String>>,
    /// Annotations. `yuba.dev/state: new` on a stack says that its state starts empty;
    /// `eks.amazonaws.com/role-arn` on a service account names its role.
    pub annotations: Option<BTreeMap<String, String>>,
    /// Kept by Kubernetes, ignored here.
    pub creation_timestamp: Option<Value>,
    /// Kept by Kubernetes, ignored here.
    pub deletion_grace_period_seconds: Option<Value>,
    /// Kept by Kubernetes, ignored here.
    pub deletion_timestamp: Option<Value>,
    /// Kept by Kubernetes, ignored here.
    pub finalizers: Option<Value>,
    /// Kept by Kubernetes, ignored here.
    pub generate_name: Option<Value>,
    /// Kept by Kubernetes, ignored here.
    pub generation: Option<Value>,
    /// Kept by Kubernetes, ignored here.
    pub managed_fields: Option<Value>,
    /// Kept by Kubernetes, ignored here.
    pub owner_references: Option<Value>,
    /// Kept by Kubernetes, ignored here.
    pub resource_version: Option<Value>,
    /// Kept by Kubernetes, ignored here.
    pub self_link: Option<Value>,
    /// Kept by Kubernetes, ignored here.
    pub uid: Option<Value>,
}

/// A `ServiceAccount` (v1), read for its annotation `eks.amazonaws.com/role-arn`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "ServiceAccount")]
pub struct ServiceAccountDocument {
    /// `v1`.
    pub api_version: String,
    /// `ServiceAccount`.
    pub kind: String,
    /// Name, namespace and the annotation.
    pub metadata: Metadata,
    /// Ignored.
    pub automount_service_account_token: Option<bool>,
    /// Ignored.
    pub image_pull_secrets: Option<Value>,
    /// Ignored.
    pub secrets: Option<Value>,
}

/// A `ConfigMap` (v1), kept as values for `varsFrom`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "ConfigMap")]
pub struct ConfigMapDocument {
    /// `v1`.
    pub api_version: String,
    /// `ConfigMap`.
    pub kind: String,
    /// Name and namespace.
    pub metadata: Metadata,
    /// The values, all texts.
    pub data: Option<BTreeMap<String, String>>,
    /// Ignored.
    pub binary_data: Option<Value>,
    /// Ignored.
    pub immutable: Option<bool>,
}

/// A name beside a document: `{name: …}`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LocalReference {
    /// The name of an object in the same namespace.
    #[schemars(with = "format::ObjectName")]
    pub name: String,
}

/// A name, and where it is not the same one, a namespace.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NamespacedReference {
    /// The object's name.
    #[schemars(with = "format::ObjectName")]
    pub name: String,
    /// The object's namespace; that of the document if it names none.
    #[schemars(with = "Option<format::Namespace>")]
    pub namespace: Option<String>,
}
