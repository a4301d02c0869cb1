//! What a manifest asks of Yuba, in one shape whatever kind it was written in: `manifest` reads it, everything else
//! uses it. Fields that do not work yet are not here; they are named in [`StackSpec::not_applied`].

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::approval::ApprovalRules;
use crate::id::{InvalidId, PlanId, SecretName, SourceName, StackName};
use crate::time::Span;

/// The settings of one stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StackSpec {
    /// The source that holds the code.
    pub source: SourceName,
    /// The root module's directory, relative to the repository's root, without `./` or a trailing slash; empty for
    /// the root itself.
    pub path: String,
    /// How often reality is compared with Git when nothing else happens.
    pub interval: Span,
    /// The first wait after a failure; doubles up to an hour.
    pub retry_interval: Span,
    /// Bounds the plan phase.
    pub timeout: Span,
    /// Bounds the apply phase by interrupting it.
    pub apply_timeout: Span,
    /// Who lets a plan be applied.
    pub approve_plan: ApprovePlan,
    /// Who must approve a plan, and when it may be applied, beyond what `approve_plan` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalRules>,
    /// Plan, store, never apply.
    pub plan_only: bool,
    /// The manifest forbids new runs.
    pub suspend: bool,
    /// Plan and apply at every interval, without asking.
    pub force: bool,
    /// Plan the destruction of everything in the state.
    pub destroy: bool,
    /// Variables given in the manifest, in its order.
    pub vars: Vec<Variable>,
    /// Variables read from secrets and config maps; later entries win, and win over `vars`.
    pub vars_from: Vec<VarsFrom>,
    /// `-var-file` arguments, relative to the repository's root.
    pub tf_vars_files: Vec<String>,
    /// The body of a `terraform { }` block that names the backend (`backendConfig.customConfiguration`).
    pub backend: Option<String>,
    /// The workspace; `default` where the manifest names none.
    pub workspace: String,
    /// Stacks that must be up to date before this one is planned.
    pub depends_on: Vec<StackName>,
    /// Where outputs are written after an apply.
    pub write_outputs: Option<WriteOutputs>,
    /// Whether an apply stores the list of what it manages.
    pub enable_inventory: bool,
    /// Hosts that modules and providers come from, and the secrets with their credentials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostSecret>,
    /// What is masked besides secrets, as regular expressions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redact: Vec<String>,
    /// The roles that plan and apply run under.
    pub roles: Roles,
    /// The engine that is asked for.
    pub engine: EnginePreference,
    /// Labels: the manifest's `metadata.labels`, overlaid by `spec.labels`.
    pub labels: BTreeMap<String, String>,
    /// How drift is looked for and answered.
    pub drift: DriftSettings,
    /// Further paths that trigger a plan: globs relative to the repository's root.
    pub triggers: Vec<String>,
    /// The manifest says that the stack's state starts empty (annotation `yuba.dev/state: new`).
    pub state_is_new: bool,
    /// Fields that the manifest uses and that do not work yet, by their path in the manifest.
    pub not_applied: Vec<NotApplied>,
}

impl StackSpec {
    /// The settings of a manifest that names no more than it must.
    pub fn new(source: SourceName, path: impl Into<String>, interval: Span) -> Self {
        Self {
            source,
            path: path.into(),
            interval,
            retry_interval: Span::seconds(15),
            timeout: Span::minutes(30),
            apply_timeout: Span::hours(6),
            approve_plan: ApprovePlan::Manual,
            approval: None,
            plan_only: false,
            suspend: false,
            force: false,
            destroy: false,
            vars: Vec::new(),
            vars_from: Vec::new(),
            tf_vars_files: Vec::new(),
            backend: None,
            workspace: "default".to_owned(),
            depends_on: Vec::new(),
            write_outputs: None,
            enable_inventory: false,
            hosts: Vec::new(),
            redact: Vec::new(),
            roles: Roles::default(),
            engine: EnginePreference::default(),
            labels: BTreeMap::new(),
            drift: DriftSettings { mode: DriftMode::Alert, escalate_after: ESCALATE_AFTER },
            triggers: Vec::new(),
            state_is_new: false,
            not_applied: Vec::new(),
        }
    }

    /// Why no plan of this stack may be applied whatever people say; `None` where plans may be.
    pub fn planned_only_because(&self) -> Option<String> {
        if self.plan_only {
            return Some("planOnly is set".to_owned());
        }
        let fields: Vec<&str> =
            self.not_applied.iter().filter(|field| field.matters).map(|field| field.field.as_str()).collect();
        if fields.is_empty() {
            return None;
        }
        Some(format!("the manifest uses what is not applied yet: {}", fields.join(", ")))
    }

    /// Whether somebody or something has labelled or named the stack as production.
    pub fn is_production(&self, name: &StackName) -> bool {
        let production = |text: &str| {
            text.split(|letter: char| !letter.is_ascii_alphanumeric())
                .any(|word| word.eq_ignore_ascii_case("prod") || word.eq_ignore_ascii_case("production"))
        };
        production(&name.name)
            || production(&name.namespace)
            || production(&self.path)
            || self.labels.values().any(|value| production(value))
    }
}

/// Who lets a plan be applied (`approvePlan`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovePlan {
    /// People, one plan at a time (`""` or `manual`).
    Manual,
    /// Every plan is applied (`auto`).
    Auto,
    /// Nothing is applied; only drift is looked for (`disable`).
    Disable,
    /// The plan of this id is approved; with a digest only the plan of that content.
    Plan {
        /// The plan id.
        id: PlanId,
        /// The first 12 hexadecimal digits of the content digest, where the manifest gives them.
        digest: Option<String>,
    },
}

impl FromStr for ApprovePlan {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = || InvalidId {
            found: text.to_owned(),
            expected: "`auto`, `manual`, `disable` or a plan id such as `plan-main-0123456789`",
        };
        match text {
            "" | "manual" => return Ok(Self::Manual),
            "auto" => return Ok(Self::Auto),
            "disable" => return Ok(Self::Disable),
            _ => {}
        }
        let (id, digest) = match text.split_once('@') {
            Some((id, digest)) => (id, Some(digest)),
            None => (text, None),
        };
        let short = |digest: &str| digest.len() == 12 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        if digest.is_some_and(|digest| !short(digest)) {
            return Err(invalid());
        }
        let digest = digest.map(str::to_ascii_lowercase);
        Ok(Self::Plan { id: id.parse().map_err(|_| invalid())?, digest })
    }
}

/// A variable given in the manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// The variable's name in the root module.
    pub name: String,
    /// Any JSON value.
    pub value: Value,
}

/// Variables read from a secret or a config map.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VarsFrom {
    /// Which of the two.
    pub kind: ValuesKind,
    /// Its name, in the stack's namespace.
    pub name: SecretName,
    /// The keys to take, each under a name of its own; empty takes all keys under their names.
    pub keys: Vec<KeyMapping>,
    /// Whether the whole object may be missing.
    pub optional: bool,
}

/// Where values lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ValuesKind {
    /// A secret: values are masked wherever they could be shown.
    Secret,
    /// A config map: values may be shown.
    ConfigMap,
}

/// `key` or `key:as`: what is taken, and the name it goes under.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyMapping {
    /// The name in the object or among the outputs.
    pub key: String,
    /// The name it goes under; equal to `key` where the manifest gives none.
    pub name: String,
}

impl FromStr for KeyMapping {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let (key, name) = text.split_once(':').unwrap_or((text, text));
        if key.is_empty() || name.is_empty() || name.contains(':') {
            return Err(InvalidId { found: text.to_owned(), expected: "of the form `key` or `key:name`" });
        }
        Ok(Self { key: key.to_owned(), name: name.to_owned() })
    }
}

/// Where outputs are written after an apply (`writeOutputsToSecret`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteOutputs {
    /// The secret's name, in the stack's namespace.
    pub name: SecretName,
    /// The outputs to write, each under a name of its own; empty writes all.
    pub outputs: Vec<KeyMapping>,
}

/// A host, and the secret with what opens it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostSecret {
    /// The host as URLs name it: `git.example.com`, `git.example.com:8443`.
    pub host: String,
    /// The secret.
    pub secret: SecretName,
}

/// The roles that tofu runs under.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roles {
    /// For plan, drift and preview; falls back to the service account's role annotation.
    pub plan: Option<String>,
    /// For apply; falls back to the service account's role annotation.
    pub apply: Option<String>,
    /// The service account that the manifest names, for people to see.
    pub service_account: Option<String>,
}

/// The engine a manifest asks for: `engine`, or the tag of the runner image.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnginePreference {
    /// The tool, where one is named.
    pub tool: Option<EngineTool>,
    /// A version constraint as `>= 1.6, < 2`, or an exact version.
    pub version: Option<String>,
    /// Whether another engine may be used, with a notice (a preference read from an image's tag), or not (`engine`).
    pub strength: PreferenceStrength,
}

/// How firmly an engine is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PreferenceStrength {
    /// Another is used, with a notice.
    #[default]
    Wish,
    /// Another is refused.
    Demand,
}

/// The two engines that Yuba knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineTool {
    /// OpenTofu.
    Tofu,
    /// Terraform.
    Terraform,
}

/// How drift is looked for and answered (`drift`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriftSettings {
    /// What is done about it.
    pub mode: DriftMode,
    /// After how many checks in a row that found it, unanswered, it becomes critical.
    #[serde(default = "escalate_after", skip_serializing_if = "is_usual")]
    pub escalate_after: u32,
}

/// After how many checks drift becomes critical where the manifest does not say.
pub const ESCALATE_AFTER: u32 = 3;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_usual(after: &u32) -> bool {
    *after == ESCALATE_AFTER
}

fn escalate_after() -> u32 {
    ESCALATE_AFTER
}

/// What is done about drift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DriftMode {
    /// It is reported, and can be approved.
    Alert,
    /// What neither deletes, replaces nor forgets is put right; the rest is reported.
    Remediate,
    /// It is not looked for.
    Off,
}

/// A field that a manifest uses and that does not work yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotApplied {
    /// Its path in the manifest: `spec.healthChecks`.
    pub field: String,
    /// Whether it changes what, where or whether to apply: then the stack is planned only.
    pub matters: bool,
}

/// The settings of one source (`GitRepository`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceSpec {
    /// `https://…`, `ssh://…` or `file://…`.
    pub url: String,
    /// Which commit of it.
    pub reference: GitReference,
    /// How often it is polled.
    pub interval: Span,
    /// The secret with its credentials: `username` and `password`, `bearerToken`, or `identity` and `known_hosts`;
    /// and `ca.crt`.
    pub secret: Option<SecretName>,
    /// The manifest forbids polling.
    pub suspend: bool,
}

/// Which commit of a source is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GitReference {
    /// The head of a branch.
    Branch(String),
    /// A tag.
    Tag(String),
    /// Exactly this commit (on the branch, where one is named beside it).
    Commit(String),
    /// Any full reference name, as `refs/heads/main`.
    Name(String),
}

impl GitReference {
    /// The name that revisions of it carry before `@sha1:`.
    pub fn as_revision_name(&self) -> &str {
        match self {
            Self::Branch(name) | Self::Tag(name) | Self::Commit(name) | Self::Name(name) => name,
        }
    }
}
