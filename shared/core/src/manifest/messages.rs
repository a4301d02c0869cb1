//! What people read about manifests. Each message names the field, what was found and what is allowed; the place stands
//! before it.

use super::finding::Place;
use super::scalar;
use super::yaml::{Node, Tree};
use crate::notify::Service;
use crate::time::Span;

/// More names than this are not listed in a message.
const MANY: usize = 16;

/// A field's path within one more mapping.
pub(super) fn join(path: &str, key: &str) -> String {
    let plain = !key.contains(['.', '[', ' ']) && !key.is_empty();
    match (path, plain) {
        ("", _) => key.to_owned(),
        (_, true) => format!("{path}.{key}"),
        (_, false) => format!("{path}[\"{key}\"]"),
    }
}

/// `a`, `b` or `c`.
pub(super) fn list_of(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => quoted.concat(),
    }
}

/// The name that was probably meant.
pub(super) fn nearest<'name>(found: &str, known: &[&'name str]) -> Option<&'name str> {
    let found = found.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&found, &name.to_lowercase());
    let (name, distance) =
        known.iter().map(|name| (*name, distance(name))).min_by_key(|(_, distance)| *distance)?;
    (distance <= 2.max(name.chars().count() / 3)).then_some(name)
}

/// A hint, where more than one is allowed: one alone is named already.
fn did_you_mean(found: &str, known: &[&str]) -> String {
    let nearest = if known.len() > 1 { nearest(found, known) } else { None };
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}

/// What stands there, in a few words.
fn found(node: &Node) -> String {
    match &node.tree {
        Tree::Null => "nothing".to_owned(),
        Tree::Bool(value) => format!("the boolean {value}"),
        Tree::Number(value) => format!("the number {value}"),
        Tree::Text(text) => quoted(text),
        Tree::List(_) => "a list".to_owned(),
        Tree::Map(_) => "a mapping".to_owned(),
    }
}

fn quoted(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(60).collect();
    if short.len() == text.len() { format!("`{text}`") } else { format!("`{short}…`") }
}

pub(super) fn wrong(path: &str, node: &Node, allowed: &str) -> String {
    let name = if path.is_empty() { "the document" } else { path };
    format!("{name}: found {}, allowed is {allowed}{}", found(node), hint(node, allowed))
}

/// What probably went wrong: a text that YAML takes for something else, or Git's short form of an SSH address.
fn hint(node: &Node, allowed: &str) -> String {
    let other = ["a list", "a mapping", "a whole number", "a number", "`true`"];
    let wants_text = !other.iter().any(|start| allowed.starts_with(start));
    match &node.tree {
        Tree::Bool(_) | Tree::Number(_) if wants_text => "; write texts in quotes".to_owned(),
        Tree::Text(text) if allowed.starts_with("a URL") => match text.split_once(':') {
            Some((host, path)) if host.contains('@') => format!("; write `ssh://{host}/{path}`"),
            _ => String::new(),
        },
        Tree::Text(text) if !wants_text && !matches!(scalar::resolve(text), Tree::Text(_) | Tree::Null) => {
            "; write it without quotes".to_owned()
        }
        _ => String::new(),
    }
}

pub(super) fn wrong_choice(path: &str, text: &str, choices: &[&str]) -> String {
    format!("{path}: found {}, allowed is {}{}", quoted(text), list_of(choices), did_you_mean(text, choices))
}

pub(super) fn missing(path: &str, allowed: &str) -> String {
    let allowed = if allowed.is_empty() { String::new() } else { format!(", allowed is {allowed}") };
    format!("{path}: found nothing{allowed}; it is required")
}

pub(super) fn unknown_field(path: &str, key: &str, known: &[&str]) -> String {
    match nearest(key, known) {
        Some(name) => format!("{path}: no such field; did you mean `{name}`?"),
        None if known.len() > MANY => {
            format!("{path}: no such field; `docs/manifests.md` lists those that are allowed")
        }
        None => format!("{path}: no such field; allowed is {}", list_of(known)),
    }
}

pub(super) fn newer_field(path: &str) -> String {
    format!("{path}: no such field in v1alpha1; it exists since `infra.contrib.fluxcd.io/v1alpha2`")
}

pub(super) fn field_of_stack(path: &str) -> String {
    format!(
        "{path}: no such field in `Terraform`; it is a field of `Stack` in `yuba.dev/v1`, which has all others too"
    )
}

pub(super) fn not_a_mapping(node: &Node) -> String {
    format!("the document: found {}, allowed is a mapping with `apiVersion` and `kind`", found(node))
}

pub(super) fn no_kind() -> String {
    "ignored: neither `apiVersion` nor `kind`, so it is no manifest".to_owned()
}

pub(super) fn chart() -> String {
    "ignored: it describes a chart of Helm".to_owned()
}

pub(super) fn template() -> String {
    "ignored: a template that is no manifest before it is filled in; check what `helm template` writes"
        .to_owned()
}

pub(super) fn half_a_kind(field: &str) -> String {
    format!("{field}: found nothing, allowed is a text; it is required")
}

pub(super) fn wrong_version(api_version: &str, kind: &str, known: &[&str]) -> String {
    format!("apiVersion: found {} for `{kind}`, allowed is {}", quoted(api_version), list_of(known))
}

pub(super) fn wrong_kind(api_version: &str, kind: &str, known: &[&str]) -> String {
    let hint = did_you_mean(kind, known);
    format!("kind: found {} in `{api_version}`, allowed is {}{hint}", quoted(kind), list_of(known))
}

pub(super) fn wrong_group(api_version: &str, kind: &str, known: &[&str]) -> String {
    let hint = did_you_mean(api_version, known);
    format!("apiVersion: found {} for `{kind}`, allowed is {}{hint}", quoted(api_version), list_of(known))
}

pub(super) fn ignored_of_flux(kind: &str, name: &str) -> String {
    format!("ignored: {kind} `{name}` belongs to Flux's own installation")
}

pub(super) fn ignored_receiver(name: &str) -> String {
    format!("ignored: Receiver `{name}`; point the Git host's webhook at Yuba instead")
}

pub(super) fn ignored_kind(api_version: &str, kind: &str, name: &str) -> String {
    format!("ignored: {kind} `{name}` of `{api_version}` is not a kind that Yuba reads")
}

pub(super) fn kind_not_applied(kind: &str, name: &str) -> String {
    format!("not applied yet: {kind} `{name}`")
}

pub(super) fn secret_in_git(name: &str) -> String {
    format!(
        "Secret `{name}` is not used: its values do not belong in Git; store them with `yuba secret set {name}`"
    )
}

pub(super) fn encrypted_secret(name: &str) -> String {
    format!("Secret `{name}` is not used: SOPS is not read; store its values with `yuba secret set {name}`")
}

pub(super) fn not_applied(path: &str, why: &str, planned_only: bool) -> String {
    let effect = if planned_only { "; the stack is planned only" } else { "" };
    format!("not applied yet: {path} ({why}{effect})")
}

pub(super) fn not_applied_of_source(path: &str, why: &str, planned_only: bool) -> String {
    let effect = if planned_only { "; its stacks are planned only" } else { "" };
    format!("not applied yet: {path} ({why}{effect})")
}

pub(super) fn binary_data(path: &str) -> String {
    format!("not applied yet: {path} (values that are no text are not read)")
}

pub(super) fn other_source_kind(kind: &str) -> String {
    format!("spec.sourceRef.kind: found `{kind}`, allowed is `GitRepository` alone")
}

pub(super) fn bad_backend(why: &str) -> String {
    format!(
        "spec.backendConfig.customConfiguration: found what is not HCL ({why}), allowed is the body of a `terraform` block"
    )
}

pub(super) fn no_backend_block() -> String {
    "spec.backendConfig.customConfiguration: found no `backend` or `cloud` block, allowed is the body of a `terraform` \
     block such as `backend \"s3\" { … }`"
        .to_owned()
}

pub(super) fn remediation_without_apply() -> String {
    "spec.drift.mode: found `remediate`, allowed is `alert` or `off` where approvePlan is `disable` or planOnly is set"
        .to_owned()
}

pub(super) fn wrong_state_annotation(value: &str) -> String {
    format!("metadata.annotations[\"yuba.dev/state\"]: found {}, allowed is `new`", quoted(value))
}

pub(super) fn wrong_role_annotation(value: &str, allowed: &str) -> String {
    format!(
        "metadata.annotations[\"eks.amazonaws.com/role-arn\"]: found {}, allowed is {allowed}",
        quoted(value)
    )
}

pub(super) fn image_without_engine(image: &str) -> String {
    format!(
        "spec.runnerPodTemplate.spec.image: the tag of {} names no engine version (as `…-tofu1.6.2` or `tf-1.5.7` do); \
         the image itself is not used",
        quoted(image)
    )
}

pub(super) fn semver_source() -> String {
    "spec.ref.semver: ranges of versions do not work yet, allowed is `branch`, `tag`, `commit` or `name`"
        .to_owned()
}

pub(super) fn credentials_in_url() -> String {
    "spec.url: holds a password; store it with `yuba secret set` and name that secret in `spec.secretRef`"
        .to_owned()
}

pub(super) fn twice(kind: &str, name: &str, first: &Place) -> String {
    format!("{kind} `{name}` is given twice; it stands at {first} already, and neither is used")
}

pub(super) fn missing_source(name: &str, nearest: Option<&str>) -> String {
    let hint = nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    format!("spec.sourceRef: no GitRepository `{name}` in these manifests{hint}")
}

pub(super) fn held_source(name: &str, place: &Place) -> String {
    format!("spec.sourceRef: held back, because GitRepository `{name}` is faulty ({place})")
}

pub(super) fn missing_team(name: &str, nearest: Option<&str>) -> String {
    let hint = nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    format!("spec.approval: no Team `{name}` in these manifests{hint}")
}

pub(super) fn many_teams(path: &str, found: usize, most: usize) -> String {
    format!("{path}: found {found} teams, allowed are at most {most}")
}

pub(super) fn ends_before_it_begins(path: &str) -> String {
    format!("{path}: is not after `from`: it would never be in force")
}

pub(super) fn long_window(path: &str, found: Span, longest: Span) -> String {
    format!("{path}: found `{found}`, allowed is at most `{longest}`")
}

pub(super) fn nobody(path: &str) -> String {
    format!(
        "{path}: names nobody; allowed is at least one of `email`, `logins`, `slack`, `iamArn` or `oidcGroup`"
    )
}

pub(super) fn missing_dependency(path: &str, name: &str, nearest: Option<&str>) -> String {
    let hint = nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    format!("{path}: no stack `{name}` in these manifests{hint}")
}

pub(super) fn held_dependency(path: &str, name: &str, place: &Place) -> String {
    format!("{path}: held back, because stack `{name}` is held back ({place})")
}

pub(super) fn cycle(names: &[String]) -> String {
    format!("spec.dependsOn: stacks wait for each other: {}", names.join(" → "))
}

pub(super) fn same_state(other: &str, place: &Place, address: &str) -> String {
    format!(
        "spec.backendConfig: the state ({address}) is that of stack `{other}` too ({place}); each stack needs its own"
    )
}

pub(super) fn same_state_in_code(other: &str, place: &Place, address: &str) -> String {
    format!(
        "spec.path: by what the code names, the state ({address}) is that of stack `{other}` too ({place}); each stack \
         needs its own, and neither would be applied"
    )
}

pub(super) fn perhaps_same_state(other: &str, place: &Place) -> String {
    format!(
        "spec.path: stack `{other}` ({place}) has the same source, path and workspace, and not both name a backend; they \
         may share one state"
    )
}

pub(super) fn no_backend() -> String {
    "spec.backendConfig: names no backend; unless the code does, the state is kept in Yuba's data directory, and \
     without the annotation `yuba.dev/state: new` the first plan waits for `yuba adopt`"
        .to_owned()
}

pub(super) fn no_backend_anywhere() -> String {
    "spec.backendConfig: names no backend, and the code names none either; the state is kept in Yuba's data directory, and \
     without the annotation `yuba.dev/state: new` the first plan waits for `yuba adopt`"
        .to_owned()
}

pub(super) fn backend_beside_the_code() -> String {
    "spec.backendConfig: the local backend has no absolute path, so its state would vanish with the run; the state is kept \
     in Yuba's data directory, and the first plan waits for `yuba adopt`"
        .to_owned()
}

/// What a message about a missing backend says of a stack that carries `yuba.dev/state: new`: its first plan does not
/// wait. Nothing of other messages.
pub(super) fn of_new_state(message: &str) -> Option<String> {
    let waits = [
        ", and without the annotation `yuba.dev/state: new` the first plan waits for `yuba adopt`",
        ", and the first plan waits for `yuba adopt`",
    ];
    let said = waits.iter().find_map(|waits| message.strip_suffix(waits))?;
    Some(format!("{said}, and begins empty (`yuba.dev/state: new`)"))
}

pub(super) fn hasty_production(interval: &str) -> String {
    format!(
        "spec.interval: found `{interval}` together with `approvePlan: auto` on production; reality is changed that often \
         without anybody looking, advised is `30m` or more"
    )
}

pub(super) fn variable_twice(path: &str, name: &str) -> String {
    format!("{path}: `{name}` is given twice; the later value is used")
}

pub(super) fn unknown_service_account(name: &str) -> String {
    format!(
        "spec.serviceAccountName: no ServiceAccount `{name}` in these manifests; runs use the server's own credentials"
    )
}

pub(super) fn account_without_role(name: &str) -> String {
    format!(
        "spec.serviceAccountName: `{name}` has no annotation `eks.amazonaws.com/role-arn`; runs use the server's own credentials"
    )
}

pub(super) fn missing_config_map(path: &str, name: &str) -> String {
    format!("{path}: no ConfigMap `{name}` in these manifests; runs wait until there is one")
}

pub(super) fn missing_provider(name: &str) -> String {
    format!("spec.providerRef: no Provider `{name}` in these manifests")
}

pub(super) fn not_delivered(service: &str) -> String {
    format!("spec.type: `{service}` is not delivered yet: nothing is sent by it")
}

pub(super) fn no_service(found: &str) -> String {
    let known: Vec<&str> = Service::DELIVERING.into_iter().chain(Service::TO_COME).collect();
    let delivering = list_of(&Service::DELIVERING);
    format!(
        "spec.type: `{found}` is no service that is known, nothing is sent by it; delivered is {delivering}{}",
        did_you_mean(found, &known)
    )
}

pub(super) fn no_events_of(kind: &str) -> String {
    format!("spec.eventSources: there are no events of `{kind}` here, only of `Terraform` and `Stack`")
}

pub(super) fn no_pattern(path: &str, found: &str, why: &str) -> String {
    format!("{path}: found `{found}`, allowed is a regular expression ({why}); it finds nothing")
}

pub(super) fn whole_set(kind: &str) -> String {
    format!(
        "the whole set is held back, because a {kind} is faulty: what it forbids would be allowed without it"
    )
}

pub(super) fn too_long(limit_mib: usize) -> String {
    format!("the file is longer than {limit_mib} MiB")
}

pub(super) fn not_utf8() -> String {
    "holds bytes that are no text (or U+FFFD, which stands for such): a manifest is UTF-8".to_owned()
}
