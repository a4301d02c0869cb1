//! Which field of which kind works: one table, from which the reader, `yuba validate` and `docs/manifests.md` speak.
//! A field that is not named here shares the lot of the one it lies in; whole kinds work unless it says otherwise.

use super::yaml::{Node, Tree};

/// Which documents may have a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Since {
    /// `Terraform` of any version, and `Stack`.
    V1Alpha1,
    /// `Terraform` from v1alpha2, and `Stack`.
    V1Alpha2,
    /// `Stack` alone.
    Stack,
}

/// What becomes of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lot {
    /// It works.
    Works,
    /// It does not work yet; what, where and whether to apply stays the same without it.
    Later,
    /// It does not work yet, and it changes what, where or whether to apply: the stack is planned only.
    Matters,
}

/// A row of the table.
#[derive(Debug)]
pub(super) struct Field {
    /// Its path in the document; `[]` stands for each item of a list.
    pub(super) path: &'static str,
    pub(super) since: Since,
    pub(super) lot: Lot,
    /// Why it has that lot, or what happens instead; empty where its name says so.
    pub(super) why: &'static str,
}

const fn works(path: &'static str, since: Since) -> Field {
    Field { path, since, lot: Lot::Works, why: "" }
}

const fn later(path: &'static str, since: Since, why: &'static str) -> Field {
    Field { path, since, lot: Lot::Later, why }
}

const fn matters(path: &'static str, since: Since, why: &'static str) -> Field {
    Field { path, since, lot: Lot::Matters, why }
}

/// The fields of `Terraform` and `Stack`.
pub(super) const STACK: &[Field] = &[
    works("spec.approvePlan", Since::V1Alpha1),
    works("spec.interval", Since::V1Alpha1),
    works("spec.sourceRef", Since::V1Alpha1),
    works("spec.path", Since::V1Alpha1),
    works("spec.retryInterval", Since::V1Alpha1),
    works("spec.timeout", Since::V1Alpha1),
    works("spec.planOnly", Since::V1Alpha2),
    works("spec.suspend", Since::V1Alpha1),
    works("spec.force", Since::V1Alpha1),
    works("spec.destroy", Since::V1Alpha1),
    works("spec.disableDriftDetection", Since::V1Alpha1),
    works("spec.vars", Since::V1Alpha1),
    matters("spec.vars[].valueFrom", Since::V1Alpha1, "the variable would be null"),
    works("spec.varsFrom", Since::V1Alpha1),
    works("spec.tfVarsFiles", Since::V1Alpha2),
    works("spec.backendConfig", Since::V1Alpha1),
    matters("spec.backendConfig.disable", Since::V1Alpha1, "the state's place would be another"),
    matters("spec.backendConfig.secretSuffix", Since::V1Alpha1, CLUSTER),
    matters("spec.backendConfig.inClusterConfig", Since::V1Alpha1, CLUSTER),
    matters("spec.backendConfig.configPath", Since::V1Alpha1, CLUSTER),
    matters("spec.backendConfig.labels", Since::V1Alpha1, CLUSTER),
    works("spec.workspace", Since::V1Alpha1),
    works("spec.dependsOn", Since::V1Alpha1),
    works("spec.writeOutputsToSecret", Since::V1Alpha1),
    later("spec.writeOutputsToSecret.labels", Since::V1Alpha1, "the secret has no labels"),
    later("spec.writeOutputsToSecret.annotations", Since::V1Alpha1, "the secret has no annotations"),
    works("spec.enableInventory", Since::V1Alpha1),
    works("spec.serviceAccountName", Since::V1Alpha1),
    works("spec.runnerPodTemplate", Since::V1Alpha1),
    later("spec.runnerPodTemplate.metadata", Since::V1Alpha1, POD),
    works("spec.runnerPodTemplate.spec", Since::V1Alpha1),
    matters("spec.runnerPodTemplate.spec.env", Since::V1Alpha1, "variables and credentials may come from it"),
    matters(
        "spec.runnerPodTemplate.spec.envFrom",
        Since::V1Alpha1,
        "variables and credentials may come from it",
    ),
    matters("spec.runnerPodTemplate.spec.volumes", Since::V1Alpha1, "the code may read files from them"),
    matters("spec.runnerPodTemplate.spec.volumeMounts", Since::V1Alpha1, "the code may read files from them"),
    matters(
        "spec.runnerPodTemplate.spec.initContainers",
        Since::V1Alpha1,
        "they may prepare what the code reads",
    ),
    matters("spec.runnerPodTemplate.spec.hostAliases", Since::V1Alpha1, "they say where names lead"),
    later("spec.runnerPodTemplate.spec.nodeSelector", Since::V1Alpha1, POD),
    later("spec.runnerPodTemplate.spec.affinity", Since::V1Alpha1, POD),
    later("spec.runnerPodTemplate.spec.tolerations", Since::V1Alpha1, POD),
    later("spec.runnerPodTemplate.spec.priorityClassName", Since::V1Alpha1, POD),
    later("spec.runnerPodTemplate.spec.securityContext", Since::V1Alpha1, POD),
    later("spec.runnerPodTemplate.spec.resources", Since::V1Alpha1, POD),
    later("spec.alwaysCleanupRunnerPod", Since::V1Alpha1, POD),
    matters("spec.backendConfigsFrom", Since::V1Alpha1, "the state's place would be another"),
    later("spec.branchPlanner", Since::V1Alpha2, "pull requests are not planned yet"),
    later("spec.breakTheGlass", Since::V1Alpha1, "runs are not held for a shell"),
    matters("spec.cliConfigSecretRef", Since::V1Alpha1, "providers and modules would come from elsewhere"),
    matters("spec.cloud", Since::V1Alpha1, "the state's place would be another"),
    later("spec.destroyResourcesOnDeletion", Since::V1Alpha1, "a stack that vanishes is kept and reported"),
    later("spec.enterprise", Since::V1Alpha1, "tofu-controller does not use it either"),
    matters("spec.fileMappings", Since::V1Alpha1, "the code may read the files"),
    later("spec.healthChecks", Since::V1Alpha1, "what is applied does not depend on them"),
    later("spec.maxRetryInterval", Since::V1Alpha2, "retries wait an hour at most"),
    later("spec.parallelism", Since::V1Alpha1, "the engine's own is used"),
    later("spec.plan", Since::V1Alpha2, "plans lock the state, drift checks do not"),
    matters("spec.readInputsFromSecrets", Since::V1Alpha1, "variables would be missing"),
    later(
        "spec.refreshBeforeApply",
        Since::V1Alpha1,
        "the stored plan, which was refreshed, is what is applied",
    ),
    later("spec.remediation", Since::V1Alpha2, "retries go on, up to an hour apart"),
    later("spec.retryStrategy", Since::V1Alpha2, "waits double up to an hour"),
    later("spec.runnerTerminationGracePeriodSeconds", Since::V1Alpha1, POD),
    later(
        "spec.storeReadablePlan",
        Since::V1Alpha1,
        "each plan is stored as JSON and text, and shown by `yuba show plan`",
    ),
    matters("spec.targets", Since::V1Alpha1, "more would be applied than they name"),
    later("spec.tfstate", Since::V1Alpha1, "a lock that was left is reported; `yuba unlock` releases it"),
    later("spec.upgradeOnInit", Since::V1Alpha2, "the lock file of providers holds"),
    matters("spec.values", Since::V1Alpha1, "the variable would be missing"),
    matters("spec.webhooks", Since::V1Alpha1, "they may forbid the apply"),
    works("spec.applyTimeout", Since::Stack),
    works("spec.engine", Since::Stack),
    works("spec.labels", Since::Stack),
    works("spec.roles", Since::Stack),
    works("spec.hosts", Since::Stack),
    works("spec.redact", Since::Stack),
    works("spec.drift", Since::Stack),
    works("spec.drift.mode", Since::Stack),
    later("spec.drift.schedule", Since::Stack, "drift is looked for at each interval"),
    later("spec.drift.remediateWhen", Since::Stack, "remediation does less without it"),
    matters("spec.drift.ignore", Since::Stack, "more drift would be put right than is wanted"),
    works("spec.drift.escalateAfter", Since::Stack),
    works("spec.triggers", Since::Stack),
    matters("spec.contexts", Since::Stack, "variables and files would be missing"),
    works("spec.approval", Since::Stack),
    matters("spec.policies", Since::Stack, "they may forbid the apply"),
];

const CLUSTER: &str =
    "an in-cluster kubernetes backend cannot work here; name the backend in `customConfiguration`";
const POD: &str = "runs are no pods here";

/// The fields of `GitRepository` that do not work yet. Where one matters, the stacks of the source are planned only.
pub(super) const SOURCE: &[Field] = &[
    works("spec.url", Since::V1Alpha1),
    works("spec.interval", Since::V1Alpha1),
    works("spec.ref", Since::V1Alpha1),
    works("spec.secretRef", Since::V1Alpha1),
    works("spec.suspend", Since::V1Alpha1),
    later("spec.timeout", Since::V1Alpha1, "fetches have a bound of their own"),
    later("spec.provider", Since::V1Alpha1, "the secret's credentials are used"),
    later("spec.serviceAccountName", Since::V1Alpha1, "the secret's credentials are used"),
    later("spec.proxySecretRef", Since::V1Alpha1, "the server's own proxy settings are used"),
    matters("spec.verify", Since::V1Alpha1, "signatures are not checked"),
    later("spec.ignore", Since::V1Alpha1, "whole trees are stored"),
    matters("spec.recurseSubmodules", Since::V1Alpha1, "submodules are not fetched"),
    later("spec.sparseCheckout", Since::V1Alpha1, "whole trees are stored"),
    matters("spec.include", Since::V1Alpha1, "files of other sources would be missing"),
    later("spec.accessFrom", Since::V1Alpha1, "Flux does not use it either"),
    later("spec.gitImplementation", Since::V1Alpha1, "there is one implementation"),
];

/// The fields of `Team`.
pub(super) const TEAM: &[Field] = &[
    works("spec.members", Since::Stack),
    later("spec.members[].iamArn", Since::Stack, "nobody comes in by it yet"),
    later("spec.members[].oidcGroup", Since::Stack, "nobody comes in by it yet"),
];

/// The fields of `Freeze`.
pub(super) const FREEZE: &[Field] = &[
    works("spec.reason", Since::Stack),
    works("spec.from", Since::Stack),
    works("spec.until", Since::Stack),
    works("spec.windows", Since::Stack),
    works("spec.stacks", Since::Stack),
];

/// The fields of `Provider`.
pub(super) const PROVIDER: &[Field] = &[
    works("spec.type", Since::V1Alpha1),
    works("spec.address", Since::V1Alpha1),
    works("spec.channel", Since::V1Alpha1),
    works("spec.username", Since::V1Alpha1),
    works("spec.timeout", Since::V1Alpha1),
    works("spec.secretRef", Since::V1Alpha1),
    works("spec.suspend", Since::V1Alpha1),
    later("spec.interval", Since::V1Alpha1, "what stands in the way shows with the next message"),
    later("spec.certSecretRef", Since::V1Alpha1, "the certificates of the system are trusted"),
    later("spec.proxySecretRef", Since::V1Alpha1, "messages go without a proxy"),
    later("spec.proxy", Since::V1Alpha1, "messages go without a proxy"),
    later("spec.serviceAccountName", Since::V1Alpha1, "no role is taken on to send"),
    later("spec.commitStatusExpr", Since::V1Alpha1, "a commit status is named by its stack"),
];

/// The fields of `Alert`.
pub(super) const ALERT: &[Field] = &[
    works("spec.providerRef", Since::V1Alpha1),
    works("spec.eventSources", Since::V1Alpha1),
    works("spec.eventSeverity", Since::V1Alpha1),
    works("spec.inclusionList", Since::V1Alpha1),
    works("spec.exclusionList", Since::V1Alpha1),
    works("spec.eventMetadata", Since::V1Alpha1),
    works("spec.summary", Since::V1Alpha1),
    works("spec.suspend", Since::V1Alpha1),
];

/// The row that decides about a field: its own, or that of the nearest field it lies in.
pub(super) fn deciding<'table>(table: &'table [Field], path: &str) -> Option<&'table Field> {
    let covers = |field: &&Field| {
        path.strip_prefix(field.path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    table.iter().filter(covers).max_by_key(|field| field.path.len())
}

/// The fields of a table that a document uses and that do not work yet, with the values' exact paths.
pub(super) fn unapplied<'table>(table: &'table [Field], root: &Node) -> Vec<(String, &'table Field)> {
    let mut used = Vec::new();
    for field in table.iter().filter(|field| field.lot != Lot::Works) {
        for path in matches(root, field.path) {
            used.push((path, field));
        }
    }
    used
}

/// The exact paths under which a document uses the field of a pattern.
fn matches(root: &Node, pattern: &str) -> Vec<String> {
    let mut found = vec![(String::new(), root)];
    for part in pattern.split('.') {
        let (name, each) = part.strip_suffix("[]").map_or((part, false), |name| (name, true));
        let mut next = Vec::new();
        for (path, node) in found {
            let Some(value) = node.get(name) else { continue };
            let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            match &value.tree {
                Tree::List(items) if each => {
                    next.extend(
                        items.iter().enumerate().map(|(index, item)| (format!("{path}[{index}]"), item)),
                    );
                }
                _ => next.push((path, value)),
            }
        }
        found = next;
    }
    found.into_iter().filter(|(_, node)| !is_inert(node)).map(|(path, _)| path).collect()
}

/// Whether a value asks for nothing: `false`, `0`, `""`, an empty list or mapping, or a default that is written out.
fn is_inert(node: &Node) -> bool {
    match &node.tree {
        Tree::Null => true,
        Tree::Bool(value) => !value,
        Tree::Number(value) => value.as_f64() == Some(0.0),
        Tree::Text(value) => value.is_empty() || value == "generic" || value == "none",
        Tree::List(items) => items.is_empty(),
        Tree::Map(entries) => entries.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::parse;

    #[test]
    fn the_nearest_row_decides() {
        let lot = |path: &str| deciding(STACK, path).map(|field| field.lot);
        assert_eq!(lot("spec.drift.mode"), Some(Lot::Works));
        assert_eq!(lot("spec.drift.ignore[0]"), Some(Lot::Matters));
        assert_eq!(lot("spec.tfstate.forceUnlock"), Some(Lot::Later));
        assert_eq!(lot("spec.pathology"), None);
    }

    #[test]
    fn only_what_asks_for_something_is_used() {
        let text = "spec: {targets: [], breakTheGlass: false, parallelism: 4, vars: [{name: a}, {name: b, valueFrom: {x: 1}}]}";
        let root = parse::read(text).remove(0).root.unwrap();
        let used: Vec<String> = unapplied(STACK, &root).into_iter().map(|(path, _)| path).collect();
        assert_eq!(used, ["spec.vars[1].valueFrom", "spec.parallelism"]);
    }
}
