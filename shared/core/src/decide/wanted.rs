//! What a stack should be planned for now.

use serde_json::json;

use super::draft::Draft;
use crate::id::{InputsDigest, SecretName};
use crate::spec::{ApprovePlan, StackSpec, ValuesKind};
use crate::stack::Wanted;

impl Draft {
    /// What manifests, Git and values want now; `None` until both were seen, and while what was seen is the code that
    /// earlier settings named.
    pub(super) fn wanted(&self) -> Option<Wanted> {
        let (definition, observation) = (self.definition.as_ref()?, self.observation.as_ref()?);
        let spec = &definition.spec;
        let other_path = observation.path.as_ref().is_some_and(|path| *path != spec.path);
        if other_path || observation.source != spec.source {
            return None;
        }
        Some(Wanted {
            closure: observation.closure,
            settings: settings_digest(spec),
            values: self.values.clone(),
            problems: observation.problems.clone(),
        })
    }
}

/// Digest of the settings that a plan depends on. Never approvePlan, suspend, intervals or labels: an approval written
/// into the manifest must not change the plan that it approves. That nothing is to be applied at all is one: a stack
/// whose drift alone was looked for is planned anew once it may be applied.
pub fn settings_digest(spec: &StackSpec) -> InputsDigest {
    let mut settings = json!({
        "source": spec.source,
        "path": spec.path,
        "vars": spec.vars,
        "vars_from": spec.vars_from,
        "tf_vars_files": spec.tf_vars_files,
        "backend": spec.backend,
        "workspace": spec.workspace,
        "engine": spec.engine,
        "roles": spec.roles,
        "destroy": spec.destroy,
        "write_outputs": spec.write_outputs,
        "planned_only": spec.planned_only_because(),
    });
    // Left out where they say nothing, so that digests of before stay what they were.
    let more = [
        ("watched_only", (spec.approve_plan == ApprovePlan::Disable).then(|| json!(true))),
        ("hosts", (!spec.hosts.is_empty()).then(|| json!(spec.hosts))),
    ];
    if let Some(settings) = settings.as_object_mut() {
        let more = more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        settings.extend(more);
    }
    InputsDigest::of(settings.to_string().as_bytes())
}

/// How values are named in records and to people: `Secret default/vpc-outputs`.
pub fn values_name(kind: ValuesKind, name: &SecretName) -> String {
    match kind {
        ValuesKind::Secret => format!("Secret {name}"),
        ValuesKind::ConfigMap => format!("ConfigMap {name}"),
    }
}
