//! From a `Terraform` or `Stack` document that has the right form to the settings of a stack.

use std::collections::BTreeMap;

use super::approval;
use super::backend;
use super::engine;
use super::fields::{self, Lot};
use super::finding::Severity;
use super::format;
use super::messages;
use super::report::Report;
use super::wire::kube::{Metadata, NamespacedReference};
use super::wire::runner_pod::RunnerPodTemplate;
use super::wire::stack::{StackDocument, StackSpec as Wire};
use super::wire::stack_parts as parts;
use super::yaml::Node;
use crate::id::{InvalidId, SecretName, SourceName, StackName};
use crate::spec::{
    ApprovePlan, DriftMode, DriftSettings, ESCALATE_AFTER, EnginePreference, EngineTool, HostSecret,
    KeyMapping, NotApplied, PreferenceStrength, Roles, StackSpec, ValuesKind, Variable, VarsFrom,
    WriteOutputs,
};
use crate::state_address::BackendBlock;
use crate::time::Span;

/// The namespace of documents that name none.
pub(super) const DEFAULT_NAMESPACE: &str = "default";

/// A stack as its own document tells it; what other documents add comes later.
#[derive(Debug)]
pub(super) struct StackDraft {
    pub(super) name: StackName,
    pub(super) spec: StackSpec,
    /// The backend that its manifest names.
    pub(super) backend: Option<BackendBlock>,
    pub(super) root: Node,
    pub(super) file: String,
}

/// Makes the settings of a document, and reports what is wrong with them or worth knowing.
pub(super) fn read(
    root: Node,
    document: StackDocument,
    report: &mut Report<'_>,
) -> Result<StackDraft, InvalidId> {
    let StackDocument { metadata, spec: wire, .. } = document;
    let namespace = metadata.namespace.clone().unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned());
    let name = StackName::new(namespace, metadata.name.clone());
    judge(&root, &wire, report);
    let backend = read_backend(&root, &wire, report);
    judge_annotation(&root, &metadata, report);
    let not_applied = list_unapplied(&root, &wire, report);
    let spec = StackSpec { not_applied, ..convert(&name, metadata, wire)? };
    Ok(StackDraft { name, spec, backend, root, file: report.file.to_owned() })
}

fn convert(name: &StackName, metadata: Metadata, wire: Wire) -> Result<StackSpec, InvalidId> {
    let approve_plan: ApprovePlan = wire.approve_plan.as_deref().unwrap_or_default().parse()?;
    let here = &name.namespace;
    Ok(StackSpec {
        source: SourceName::new(
            wire.source_ref.namespace.unwrap_or_else(|| here.clone()),
            wire.source_ref.name,
        ),
        path: normal(wire.path.as_deref().unwrap_or_default())?,
        interval: wire.interval,
        retry_interval: wire.retry_interval.unwrap_or(Span::seconds(15)),
        timeout: wire.timeout.unwrap_or(Span::minutes(30)),
        apply_timeout: wire.apply_timeout.unwrap_or(Span::hours(6)),
        plan_only: wire.plan_only.unwrap_or_default(),
        suspend: wire.suspend.unwrap_or_default(),
        force: wire.force.unwrap_or_default(),
        destroy: wire.destroy.unwrap_or_default(),
        vars: wire.vars.unwrap_or_default().into_iter().map(variable).collect(),
        vars_from: vars_from(here, wire.vars_from.unwrap_or_default())?,
        tf_vars_files: normal_paths(wire.tf_vars_files)?,
        backend: wire
            .backend_config
            .and_then(|config| config.custom_configuration)
            .filter(|text| !text.trim().is_empty()),
        workspace: wire.workspace.filter(|name| !name.is_empty()).unwrap_or_else(|| "default".to_owned()),
        depends_on: wire
            .depends_on
            .unwrap_or_default()
            .into_iter()
            .map(|other| dependency(here, other))
            .collect(),
        write_outputs: write_outputs(here, wire.write_outputs_to_secret)?,
        enable_inventory: wire.enable_inventory.unwrap_or_default(),
        hosts: wire.hosts.unwrap_or_default().into_iter().map(|host| host_of(here, host)).collect(),
        redact: wire.redact.unwrap_or_default(),
        roles: roles(wire.roles, wire.service_account_name),
        engine: engine_of(wire.engine, wire.runner_pod_template),
        labels: overlaid(metadata.labels, wire.labels),
        drift: DriftSettings {
            escalate_after: wire
                .drift
                .as_ref()
                .and_then(|drift| drift.escalate_after)
                .unwrap_or(ESCALATE_AFTER),
            mode: wire.drift.and_then(|drift| drift.mode).map_or_else(
                || {
                    default_drift_mode(
                        &approve_plan,
                        [wire.disable_drift_detection, wire.destroy],
                        wire.plan_only,
                    )
                },
                answer,
            ),
        },
        approve_plan,
        approval: wire.approval.map(|wire| approval::rules(here, wire)).transpose()?,
        triggers: wire.triggers.unwrap_or_default(),
        state_is_new: metadata.annotations.is_some_and(|all| all.contains_key(STATE_ANNOTATION)),
        not_applied: Vec::new(),
    })
}

const STATE_ANNOTATION: &str = "yuba.dev/state";

fn normal(path: &str) -> Result<String, InvalidId> {
    format::normal_path(path)
        .ok_or_else(|| InvalidId { found: path.to_owned(), expected: "a path inside the repository" })
}

fn normal_paths(paths: Option<Vec<String>>) -> Result<Vec<String>, InvalidId> {
    paths.unwrap_or_default().iter().map(|path| normal(path)).collect()
}

fn variable(wire: parts::Variable) -> Variable {
    Variable { name: wire.name, value: wire.value.unwrap_or_default() }
}

fn vars_from(namespace: &str, wires: Vec<parts::VarsReference>) -> Result<Vec<VarsFrom>, InvalidId> {
    let one = |wire: parts::VarsReference| {
        Ok(VarsFrom {
            kind: match wire.kind {
                parts::ValuesKind::Secret => ValuesKind::Secret,
                parts::ValuesKind::ConfigMap => ValuesKind::ConfigMap,
            },
            name: SecretName::new(namespace, wire.name),
            keys: mappings(wire.vars_keys)?,
            optional: wire.optional.unwrap_or_default(),
        })
    };
    wires.into_iter().map(one).collect()
}

fn mappings(texts: Option<Vec<String>>) -> Result<Vec<KeyMapping>, InvalidId> {
    texts.unwrap_or_default().iter().map(|text| text.parse()).collect()
}

fn write_outputs(
    namespace: &str,
    wire: Option<parts::WriteOutputs>,
) -> Result<Option<WriteOutputs>, InvalidId> {
    let Some(wire) = wire else { return Ok(None) };
    Ok(Some(WriteOutputs { name: SecretName::new(namespace, wire.name), outputs: mappings(wire.outputs)? }))
}

fn host_of(namespace: &str, wire: parts::Host) -> HostSecret {
    HostSecret { host: wire.host, secret: SecretName::new(namespace, wire.secret_ref.name) }
}

fn dependency(here: &str, other: NamespacedReference) -> StackName {
    StackName::new(other.namespace.unwrap_or_else(|| here.to_owned()), other.name)
}

fn roles(wire: Option<parts::Roles>, service_account: Option<String>) -> Roles {
    let wire = wire.unwrap_or_default();
    Roles { plan: wire.plan, apply: wire.apply, service_account }
}

/// `engine` demands; the tag of a runner image only wishes.
fn engine_of(demand: Option<parts::Engine>, pod: Option<RunnerPodTemplate>) -> EnginePreference {
    if let Some(demand) = demand {
        let tool = demand.tool.map(|tool| match tool {
            parts::Tool::Tofu => EngineTool::Tofu,
            parts::Tool::Terraform => EngineTool::Terraform,
        });
        return EnginePreference { tool, version: demand.version, strength: PreferenceStrength::Demand };
    }
    let image = pod.and_then(|pod| pod.spec).and_then(|pod| pod.image);
    image.and_then(|image| engine::of_image(&image)).unwrap_or_default()
}

fn overlaid(
    metadata: Option<BTreeMap<String, String>>,
    spec: Option<BTreeMap<String, String>>,
) -> BTreeMap<String, String> {
    let mut labels = metadata.unwrap_or_default();
    labels.extend(spec.unwrap_or_default());
    labels
}

fn answer(wire: parts::DriftAnswer) -> DriftMode {
    match wire {
        parts::DriftAnswer::Alert => DriftMode::Alert,
        parts::DriftAnswer::Remediate => DriftMode::Remediate,
        parts::DriftAnswer::Off => DriftMode::Off,
    }
}

/// Drift is put right where every plan would be applied anyway. What is to be destroyed has none, as in
/// tofu-controller.
fn default_drift_mode(approve: &ApprovePlan, off: [Option<bool>; 2], plan_only: Option<bool>) -> DriftMode {
    if off.contains(&Some(true)) {
        DriftMode::Off
    } else if *approve == ApprovePlan::Auto && plan_only != Some(true) {
        DriftMode::Remediate
    } else {
        DriftMode::Alert
    }
}

/// What the form alone does not show.
fn judge(root: &Node, wire: &Wire, report: &mut Report<'_>) {
    let kind = match wire.source_ref.kind {
        parts::SourceKind::GitRepository => None,
        parts::SourceKind::Bucket => Some("Bucket"),
        parts::SourceKind::OciRepository => Some("OCIRepository"),
    };
    if let Some(kind) = kind {
        report.say(Severity::Error, root.spot_of("spec.sourceRef.kind"), messages::other_source_kind(kind));
    }
    let applies = wire.approve_plan.as_deref() != Some("disable") && wire.plan_only != Some(true);
    let remediates = wire.drift.as_ref().and_then(|drift| drift.mode) == Some(parts::DriftAnswer::Remediate);
    if remediates && !applies {
        report.say(Severity::Error, root.spot_of("spec.drift.mode"), messages::remediation_without_apply());
    }
    if let Some(approval) = &wire.approval {
        approval::judge(root, approval, report);
    }
    judge_image(root, wire, report);
    let names = wire.vars.iter().flatten().map(|variable| variable.name.as_str()).collect::<Vec<_>>();
    for (index, name) in names.iter().enumerate() {
        if names.iter().take(index).any(|earlier| earlier == name) {
            let path = format!("spec.vars[{index}].name");
            report.say(Severity::Warning, root.spot_of(&path), messages::variable_twice(&path, name));
        }
    }
}

fn judge_annotation(root: &Node, metadata: &Metadata, report: &mut Report<'_>) {
    let Some(value) = metadata.annotations.as_ref().and_then(|all| all.get(STATE_ANNOTATION)) else { return };
    if value == "new" {
        report.state_is_new();
    } else {
        let annotations = root.get("metadata").and_then(|node| node.get("annotations"));
        let spot =
            annotations.and_then(|node| node.get(STATE_ANNOTATION)).map_or(root.spot, |node| node.spot);
        report.say(Severity::Error, spot, messages::wrong_state_annotation(value));
    }
}

fn judge_image(root: &Node, wire: &Wire, report: &mut Report<'_>) {
    let pod = wire.runner_pod_template.as_ref().and_then(|template| template.spec.as_ref());
    let Some(image) = pod.and_then(|pod| pod.image.as_deref()) else { return };
    if engine::of_image(image).is_none() {
        let spot = root.spot_of("spec.runnerPodTemplate.spec.image");
        report.say(Severity::Notice, spot, messages::image_without_engine(image));
    }
}

fn read_backend(root: &Node, wire: &Wire, report: &mut Report<'_>) -> Option<BackendBlock> {
    const PATH: &str = "spec.backendConfig.customConfiguration";
    let text = wire.backend_config.as_ref().and_then(|config| config.custom_configuration.as_deref());
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
        let elsewhere = wire.cloud.is_some() || wire.backend_config.as_ref().is_some_and(names_cluster);
        if !elsewhere {
            report.say(Severity::Warning, root.spot_of("spec"), messages::no_backend());
        }
        return None;
    };
    match backend::read_backend(text) {
        Ok(None) => {
            report.say(Severity::Warning, root.spot_of(PATH), messages::no_backend_block());
            None
        }
        Ok(backend) => {
            let workspace = wire.workspace.as_deref().unwrap_or("default");
            if backend.as_ref().is_some_and(|block| block.lies_beside_the_code(workspace)) {
                report.say(Severity::Warning, root.spot_of(PATH), messages::backend_beside_the_code());
            }
            backend
        }
        Err(why) => {
            report.say(Severity::Error, root.spot_of(PATH), messages::bad_backend(&why));
            None
        }
    }
}

/// Whether a backend configuration speaks of a kubernetes backend, or of none.
fn names_cluster(config: &parts::BackendConfig) -> bool {
    let named = [&config.secret_suffix, &config.config_path].iter().any(|text| text.is_some());
    named || config.disable == Some(true) || config.in_cluster_config == Some(true) || config.labels.is_some()
}

fn list_unapplied(root: &Node, wire: &Wire, report: &mut Report<'_>) -> Vec<NotApplied> {
    let own_backend = wire.backend_config.as_ref().is_some_and(|config| {
        config.disable != Some(true)
            && config.custom_configuration.as_ref().is_some_and(|text| !text.trim().is_empty())
    });
    let mut unapplied = Vec::new();
    for (path, field) in fields::unapplied(fields::STACK, root) {
        // Beside a custom configuration tofu-controller does not look at the rest of `backendConfig` either.
        let beside = own_backend && field.path.starts_with("spec.backendConfig.");
        let matters = field.lot == Lot::Matters && !beside;
        let why = if beside { "`customConfiguration` is used" } else { field.why };
        report.say(Severity::Notice, root.spot_of(&path), messages::not_applied(&path, why, matters));
        unapplied.push(NotApplied { field: path, matters });
    }
    unapplied
}
