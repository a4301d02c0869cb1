//! The parts of a stack's settings.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::manifest::format;
use crate::manifest::wire::kube::LocalReference;
use crate::time::Span;

/// The source that holds the code.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SourceReference {
    /// Ignored.
    pub api_version: Option<String>,
    /// `GitRepository`.
    pub kind: SourceKind,
    /// The source's name.
    #[schemars(with = "format::ObjectName")]
    pub name: String,
    /// The source's namespace; the stack's own if it names none.
    #[schemars(with = "Option<format::Namespace>")]
    pub namespace: Option<String>,
}

/// The kinds of sources that tofu-controller knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum SourceKind {
    /// A Git repository.
    GitRepository,
    /// Does not work yet.
    Bucket,
    /// Does not work yet.
    #[serde(rename = "OCIRepository")]
    OciRepository,
}

/// A variable.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Variable {
    /// The variable's name in the root module.
    pub name: String,
    /// Any value.
    pub value: Option<Value>,
    /// In tofu-controller's schema, never read by it.
    pub value_from: Option<Value>,
}

/// Variables read from a secret or a config map.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VarsReference {
    /// `Secret` or `ConfigMap`.
    pub kind: ValuesKind,
    /// Its name, in the stack's namespace.
    #[schemars(with = "format::ObjectName")]
    pub name: String,
    /// The keys to take, each as `key` or `key:variable`; all if it names none.
    #[schemars(with = "Option<Vec<format::MappedKey>>")]
    pub vars_keys: Option<Vec<String>>,
    /// Whether it may be missing.
    pub optional: Option<bool>,
}

/// Where values lie.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub enum ValuesKind {
    /// A secret.
    Secret,
    /// A config map.
    ConfigMap,
}

/// Where the state is kept.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BackendConfig {
    /// The body of a `terraform { }` block that names the backend, in HCL.
    pub custom_configuration: Option<String>,
    /// No backend of the controller's making.
    pub disable: Option<bool>,
    /// The suffix of the state's secret in the cluster.
    pub secret_suffix: Option<String>,
    /// The state's secret lies in the cluster of the pod.
    pub in_cluster_config: Option<bool>,
    /// The kubeconfig of the cluster that holds the state's secret.
    pub config_path: Option<String>,
    /// Labels of the state's secret.
    pub labels: Option<BTreeMap<String, String>>,
}

/// Settings of the backend from a secret or a config map.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BackendConfigReference {
    /// `Secret` or `ConfigMap`.
    pub kind: ValuesKind,
    /// Its name.
    pub name: String,
    /// The keys to take.
    pub keys: Option<Vec<String>>,
    /// Whether it may be missing.
    pub optional: Option<bool>,
}

/// The secret that outputs are written to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WriteOutputs {
    /// The secret's name, in the stack's namespace.
    #[schemars(with = "format::ObjectName")]
    pub name: String,
    /// The outputs to write, each as `output` or `output:key`; all if it names none.
    #[schemars(with = "Option<Vec<format::MappedKey>>")]
    pub outputs: Option<Vec<String>>,
    /// Labels of the secret.
    pub labels: Option<BTreeMap<String, String>>,
    /// Annotations of the secret.
    pub annotations: Option<BTreeMap<String, String>>,
}

/// Plans for pull requests.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct BranchPlanner {
    /// Only pull requests that touch `path`.
    pub enable_path_scope: Option<bool>,
}

/// HCP Terraform as backend.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Cloud {
    /// The organization.
    pub organization: String,
    /// The workspaces.
    pub workspaces: CloudWorkspaces,
    /// The host.
    pub hostname: Option<String>,
    /// The token.
    pub token: Option<String>,
}

/// Workspaces of HCP Terraform.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CloudWorkspaces {
    /// One by its name.
    pub name: Option<String>,
    /// Those with these tags.
    pub tags: Option<Vec<String>>,
}

/// A file laid into the run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileMapping {
    /// The secret and its key.
    pub secret_ref: KeyReference,
    /// Under which directory.
    pub location: FileLocation,
    /// The path under it.
    pub path: String,
}

/// A key of a secret.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyReference {
    /// The secret.
    pub name: String,
    /// The key.
    pub key: Option<String>,
}

/// Where a file is laid.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileLocation {
    /// The home directory.
    Home,
    /// The root module's directory.
    Workspace,
}

/// A check after an apply.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HealthCheck {
    /// The check's name.
    pub name: Option<String>,
    /// How it is made.
    #[serde(rename = "type")]
    pub protocol: HealthCheckType,
    /// For `http`.
    pub url: Option<String>,
    /// For `tcp`.
    pub address: Option<String>,
    /// Bounds the check.
    #[schemars(with = "Option<format::Duration>")]
    pub timeout: Option<Span>,
}

/// How a health check is made.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HealthCheckType {
    /// A connection is made.
    Tcp,
    /// A page is asked for.
    Http,
}

/// Options of the plan.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanOptions {
    /// Whether the plan locks the state.
    pub lock: Option<bool>,
}

/// Outputs of another stack.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InputsReference {
    /// The secret with the outputs.
    pub name: String,
    /// The name they go under in `values`.
    #[serde(rename = "as")]
    pub alias: String,
}

/// How many attempts are made.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Remediation {
    /// The number of attempts; negative for no limit.
    pub retries: Option<i64>,
}

/// How waits between retries grow.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub enum RetryStrategy {
    /// They do not.
    StaticInterval,
    /// They double.
    ExponentialBackoff,
}

/// Where else a plan is stored.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReadablePlan {
    /// Nowhere.
    None,
    /// As JSON in a secret.
    Json,
    /// As text in a config map.
    Human,
}

/// Locks of the state.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TfState {
    /// Whether a lock that was left is released.
    pub force_unlock: Option<ForceUnlock>,
    /// The lock to release.
    pub lock_identifier: Option<String>,
    /// How long a plan waits for the lock.
    #[schemars(with = "Option<format::Duration>")]
    pub lock_timeout: Option<Span>,
}

/// Whether a lock that was left is released.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ForceUnlock {
    /// The one that is named.
    Yes,
    /// None.
    No,
    /// Any.
    Auto,
}

/// A service that judges plans.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Webhook {
    /// When it is asked.
    pub stage: WebhookStage,
    /// Whether it is asked.
    pub enabled: Option<bool>,
    /// Where it listens.
    pub url: String,
    /// What it is sent.
    pub payload_type: Option<WebhookPayload>,
    /// The template that must be true of its answer.
    pub test_expression: Option<String>,
    /// The template of the message where it is not.
    pub error_message_template: Option<String>,
}

/// When a webhook is asked.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WebhookStage {
    /// After each plan.
    PostPlanning,
}

/// What a webhook is sent.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
pub enum WebhookPayload {
    /// Both.
    SpecAndPlan,
    /// The manifest.
    SpecOnly,
    /// The plan.
    PlanOnly,
}

/// The engine that is demanded.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Engine {
    /// `tofu` or `terraform`; either if it names none.
    pub tool: Option<Tool>,
    /// A version, or constraints as `>= 1.6, < 2.0`.
    #[schemars(with = "Option<format::VersionConstraint>")]
    pub version: Option<String>,
}

/// The engines.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Tool {
    /// OpenTofu.
    Tofu,
    /// Terraform.
    Terraform,
}

/// The roles to run under.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Roles {
    /// For plan, drift check and preview.
    #[schemars(with = "Option<format::RoleArn>")]
    pub plan: Option<String>,
    /// For apply.
    #[schemars(with = "Option<format::RoleArn>")]
    pub apply: Option<String>,
}

/// A host that modules and providers come from, and what opens it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Host {
    /// Its name, with a port where URLs name one.
    #[schemars(with = "format::Host")]
    pub host: String,
    /// The secret with `username` and `password`, `bearerToken`, or `identity` and `known_hosts` for Git, with `ca.crt`
    /// where its certificate is not a public one, and with `token` for registries.
    pub secret_ref: LocalReference,
}

/// How drift is looked for and answered.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Drift {
    /// `alert`, `remediate` or `off`; `remediate` where `approvePlan` is `auto`, else `alert`, if it names none.
    pub mode: Option<DriftAnswer>,
    /// When drift is looked for, apart from `interval`.
    pub schedule: Option<String>,
    /// What remediation may do beyond updates.
    pub remediate_when: Option<Value>,
    /// Addresses and attributes whose drift is no drift.
    pub ignore: Option<Vec<Value>>,
    /// After how many checks in a row that found drift, and that nobody answered, it becomes critical, once; 3 if it names
    /// none.
    #[schemars(range(min = 1))]
    pub escalate_after: Option<u32>,
}

/// What is done about drift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DriftAnswer {
    /// It is reported, and can be approved.
    Alert,
    /// It is put right.
    Remediate,
    /// It is not looked for.
    Off,
}
