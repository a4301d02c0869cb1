//! `Terraform` of `infra.contrib.fluxcd.io` and `Stack` of `yuba.dev` in one type; `fields` says which of them has
//! which field. Source of the fields of `Terraform`: tofu-controller's `api/v1alpha2/terraform_types.go`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::approval::Approval;
use super::kube::{Metadata, NamespacedReference};
use super::runner_pod::RunnerPodTemplate;
use super::stack_parts as parts;
use crate::manifest::format;
use crate::time::Span;

/// A stack: one root module with its settings and its own state.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(title = "Stack")]
pub struct StackDocument {
    /// `yuba.dev/v1`, or `infra.contrib.fluxcd.io/v1alpha2` or `…/v1alpha1`.
    pub api_version: String,
    /// `Stack`, or `Terraform` under `infra.contrib.fluxcd.io`.
    pub kind: String,
    /// Name, namespace, labels, and the annotation `yuba.dev/state: new`.
    pub metadata: Metadata,
    /// What is wanted.
    pub spec: StackSpec,
    /// Kept by tofu-controller, ignored here.
    pub status: Option<Value>,
}

/// The settings of a stack.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StackSpec {
    /// Who lets a plan be applied: nothing or `manual` for people, `auto` for every plan, `disable` for drift detection
    /// alone, or the id of the one plan that is approved (`plan-main-0123456789`, with `@` and the first 12 digits of
    /// its content digest to bind it to its content).
    #[schemars(with = "Option<format::PlanApproval>")]
    pub approve_plan: Option<String>,
    /// How often reality is compared with Git when nothing else happens.
    #[schemars(with = "format::PositiveDuration")]
    pub interval: Span,
    /// The source that holds the code.
    pub source_ref: parts::SourceReference,
    /// The root module's directory in the source; the repository's root if it names none.
    #[schemars(with = "Option<format::RepositoryPath>")]
    pub path: Option<String>,
    /// The first wait after a failure, `15s` if it names none; doubles up to an hour.
    #[schemars(with = "Option<format::PositiveDuration>")]
    pub retry_interval: Option<Span>,
    /// Bounds the plan; `30m` if it names none.
    #[schemars(with = "Option<format::PositiveDuration>")]
    pub timeout: Option<Span>,
    /// Plan and store, never apply.
    pub plan_only: Option<bool>,
    /// No new runs while it is true; one that runs is not stopped.
    pub suspend: Option<bool>,
    /// Plan and apply at every interval, without asking.
    pub force: Option<bool>,
    /// Plan the destruction of everything in the state.
    pub destroy: Option<bool>,
    /// Do not look for drift.
    pub disable_drift_detection: Option<bool>,
    /// Variables.
    pub vars: Option<Vec<parts::Variable>>,
    /// Variables read from secrets and config maps; they win over `vars`, later ones over earlier.
    pub vars_from: Option<Vec<parts::VarsReference>>,
    /// Files of variables (`-var-file`), relative to the repository's root.
    #[schemars(with = "Option<Vec<format::RepositoryPath>>")]
    pub tf_vars_files: Option<Vec<String>>,
    /// Where the state is kept.
    pub backend_config: Option<parts::BackendConfig>,
    /// The workspace, `default` if it names none.
    pub workspace: Option<String>,
    /// Stacks that must be up to date before this one is planned.
    pub depends_on: Option<Vec<NamespacedReference>>,
    /// The secret that outputs are written to after an apply.
    pub write_outputs_to_secret: Option<parts::WriteOutputs>,
    /// Store the list of what an apply manages.
    pub enable_inventory: Option<bool>,
    /// The service account whose role annotation names the role to run under; `tf-runner` if there is one of that name.
    #[schemars(with = "Option<format::ObjectName>")]
    pub service_account_name: Option<String>,
    /// The pod that tofu-controller runs tofu in. The tag of its image says which engine is preferred.
    pub runner_pod_template: Option<RunnerPodTemplate>,

    /// Remove the pod after each run.
    pub always_cleanup_runner_pod: Option<bool>,
    /// Settings of the backend from secrets and config maps (`-backend-config`).
    pub backend_configs_from: Option<Vec<parts::BackendConfigReference>>,
    /// Plans for pull requests.
    pub branch_planner: Option<parts::BranchPlanner>,
    /// Hold runs for a shell.
    pub break_the_glass: Option<bool>,
    /// The secret with the CLI configuration (`.tfrc`).
    pub cli_config_secret_ref: Option<NamespacedReference>,
    /// HCP Terraform as backend.
    pub cloud: Option<parts::Cloud>,
    /// Destroy everything when the manifest is deleted.
    pub destroy_resources_on_deletion: Option<bool>,
    /// Unused by tofu-controller too.
    pub enterprise: Option<Value>,
    /// Files laid into the run from secrets.
    pub file_mappings: Option<Vec<parts::FileMapping>>,
    /// Checks after an apply.
    pub health_checks: Option<Vec<parts::HealthCheck>>,
    /// The longest wait between retries.
    #[schemars(with = "Option<format::Duration>")]
    pub max_retry_interval: Option<Span>,
    /// How many resources are worked on at once (`-parallelism`).
    pub parallelism: Option<i64>,
    /// Options of the plan.
    pub plan: Option<parts::PlanOptions>,
    /// Outputs of other stacks for `values`.
    pub read_inputs_from_secrets: Option<Vec<parts::InputsReference>>,
    /// `-refresh` at apply.
    pub refresh_before_apply: Option<bool>,
    /// How many attempts are made.
    pub remediation: Option<parts::Remediation>,
    /// How waits between retries grow.
    pub retry_strategy: Option<parts::RetryStrategy>,
    /// How long the pod may take to stop.
    pub runner_termination_grace_period_seconds: Option<i64>,
    /// Where else the plan is stored.
    pub store_readable_plan: Option<parts::ReadablePlan>,
    /// Plan and apply these addresses alone (`-target`).
    pub targets: Option<Vec<String>>,
    /// Locks of the state.
    pub tfstate: Option<parts::TfState>,
    /// `init -upgrade`.
    pub upgrade_on_init: Option<bool>,
    /// The variable `values`.
    pub values: Option<Value>,
    /// Services that judge plans.
    pub webhooks: Option<Vec<parts::Webhook>>,

    /// Bounds the apply by interrupting it; `6h` if it names none.
    #[schemars(with = "Option<format::PositiveDuration>")]
    pub apply_timeout: Option<Span>,
    /// The engine that is demanded; another is refused.
    pub engine: Option<parts::Engine>,
    /// Labels of the stack, laid over `metadata.labels`.
    pub labels: Option<BTreeMap<String, String>>,
    /// The roles to run under.
    pub roles: Option<parts::Roles>,
    /// Credentials for hosts that modules and providers come from.
    pub hosts: Option<Vec<parts::Host>>,
    /// Regular expressions: what they find is masked in logs, plans and messages, as secrets are.
    #[schemars(with = "Option<Vec<format::SecretPattern>>")]
    pub redact: Option<Vec<String>>,
    /// How drift is looked for and answered.
    pub drift: Option<parts::Drift>,
    /// Further paths whose changes trigger a plan, as globs.
    #[schemars(with = "Option<Vec<format::PathGlob>>")]
    pub triggers: Option<Vec<String>>,
    /// Contexts whose variables and files the stack takes.
    pub contexts: Option<Vec<String>>,
    /// Who must approve, beyond what `approvePlan` says: how many people, of which teams.
    pub approval: Option<Approval>,
    /// Policies that judge its plans.
    pub policies: Option<Vec<String>>,
}
