//! `Provider` and `Alert` of `notification.toolkit.fluxcd.io`: what their schemas are made of. What does not fit one is a
//! warning, so documents are read field by field (`manifest::notification`), never as these types.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::kube::{LocalReference, Metadata};
use crate::manifest::format;
use crate::time::Span;

/// Where messages go.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "Provider")]
pub struct ProviderDocument {
    /// `notification.toolkit.fluxcd.io/v1beta3`, `…/v1beta2` or `…/v1beta1`.
    pub api_version: String,
    /// `Provider`.
    pub kind: String,
    /// Name and namespace.
    pub metadata: Metadata,
    /// What is wanted.
    pub spec: ProviderSpec,
    /// Kept by Flux, ignored here.
    pub status: Option<Value>,
}

/// The settings of a provider.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProviderSpec {
    /// Which service: `slack`, `pagerduty`, `github`, `generic`, …
    #[serde(rename = "type")]
    pub service: String,
    /// The URL that messages are sent to; `address` in the secret wins.
    pub address: Option<String>,
    /// The channel, room or routing key.
    pub channel: Option<String>,
    /// The name that messages are sent under.
    pub username: Option<String>,
    /// Bounds one delivery.
    #[schemars(with = "Option<format::PositiveDuration>")]
    pub timeout: Option<Span>,
    /// How often the provider is looked at (v1beta2 and before).
    #[schemars(with = "Option<format::Duration>")]
    pub interval: Option<Span>,
    /// The secret with `token`, `address` or `headers`, as `yuba secret set` wrote it.
    pub secret_ref: Option<LocalReference>,
    /// The secret with certificates.
    pub cert_secret_ref: Option<LocalReference>,
    /// The secret that names a proxy.
    pub proxy_secret_ref: Option<LocalReference>,
    /// The proxy (deprecated by Flux).
    pub proxy: Option<String>,
    /// The service account whose role sends.
    pub service_account_name: Option<String>,
    /// How a commit status is named (CEL).
    pub commit_status_expr: Option<String>,
    /// Nothing is sent while it is true.
    pub suspend: Option<bool>,
}

/// Which events go to a provider.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "Alert")]
pub struct AlertDocument {
    /// `notification.toolkit.fluxcd.io/v1beta3`, `…/v1beta2` or `…/v1beta1`.
    pub api_version: String,
    /// `Alert`.
    pub kind: String,
    /// Name and namespace.
    pub metadata: Metadata,
    /// What is wanted.
    pub spec: AlertSpec,
    /// Kept by Flux, ignored here.
    pub status: Option<Value>,
}

/// The settings of an alert.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AlertSpec {
    /// The provider that delivers.
    pub provider_ref: LocalReference,
    /// Whose events.
    pub event_sources: Vec<EventSource>,
    /// `info` for everything (the default), `warning` for what waits for somebody and for errors, `error` for errors
    /// alone.
    pub event_severity: Option<EventSeverity>,
    /// Only messages that match one of these.
    pub inclusion_list: Option<Vec<String>>,
    /// No messages that match one of these.
    pub exclusion_list: Option<Vec<String>>,
    /// Said with every message.
    pub event_metadata: Option<BTreeMap<String, String>>,
    /// Said with every message (deprecated by Flux).
    pub summary: Option<String>,
    /// Nothing is sent while it is true.
    pub suspend: Option<bool>,
}

/// How grave an event must be.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EventSeverity {
    /// Everything.
    Info,
    /// What waits for somebody, and errors.
    Warning,
    /// Errors alone.
    Error,
}

/// Whose events an alert speaks of.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EventSource {
    /// `apiVersion` of the objects.
    pub api_version: Option<String>,
    /// The kind of the objects.
    pub kind: String,
    /// A name, or `*` for all.
    pub name: String,
    /// Their namespace; the alert's own if it names none.
    pub namespace: Option<String>,
    /// Only objects with these labels.
    pub match_labels: Option<BTreeMap<String, String>>,
}
