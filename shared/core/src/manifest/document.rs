//! Reads one document: what kind it is, whether it has the form of its kind, what it says.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::check;
use super::fields::{self, Since};
use super::finding::{Place, Severity, Spot};
use super::format;
use super::freeze;
use super::kinds::Class;
use super::messages;
use super::notification;
use super::report::Report;
use super::schema::{self, KindSchema};
use super::source::{self, SourceDraft};
use super::stack::{self, DEFAULT_NAMESPACE, StackDraft};
use super::team;
use super::wire::kube::{ConfigMapDocument, Metadata, ServiceAccountDocument};
use super::yaml::{Node, Tree};
use crate::freeze::FreezeSpec;
use crate::id::{ObjectName, SecretName};
use crate::notify::{AlertSpec, ProviderSpec};
use crate::people::Member;

/// The annotation by which EKS binds a role to a service account.
const ROLE_ANNOTATION: &str = "eks.amazonaws.com/role-arn";

/// What a document holds.
#[derive(Debug)]
pub(super) enum Item {
    Stack(Box<StackDraft>),
    Source(Box<SourceDraft>),
    /// A service account, and the role it names.
    ServiceAccount(ObjectName, Option<String>),
    ConfigMap(SecretName, BTreeMap<String, String>),
    Provider(ObjectName, ProviderSpec),
    /// An alert, and where it names its provider.
    Alert(ObjectName, AlertSpec, Spot),
    /// A team and its members.
    Team(ObjectName, Vec<Member>),
    /// A freeze.
    Freeze(ObjectName, FreezeSpec),
    /// Nothing that anything else needs.
    Nothing,
}

/// Who a document says it is, as far as it can be told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Identity {
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: Option<String>,
}

impl Identity {
    pub(super) fn of(root: &Node) -> Self {
        let metadata = root.get("metadata");
        let text = |key: &str| metadata.and_then(|metadata| metadata.text(key)).map(str::to_owned);
        Self {
            kind: root.text("kind").unwrap_or("document").to_owned(),
            namespace: text("namespace").unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned()),
            name: text("name"),
        }
    }

    /// From the lines of a document that is not YAML: better a guess than a stack that seems to have vanished.
    pub(super) fn guess(text: &str) -> Self {
        let field = |prefix: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(prefix))?;
            let value = line.trim().trim_matches(['"', '\'']);
            (!value.is_empty()).then(|| value.to_owned())
        };
        Self {
            kind: field("kind:").unwrap_or_else(|| "document".to_owned()),
            namespace: field("  namespace:").unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned()),
            name: field("  name:"),
        }
    }

    /// `namespace/name`, where the name is known.
    pub(super) fn full_name(&self) -> Option<String> {
        self.name.as_ref().map(|name| format!("{}/{name}", self.namespace))
    }
}

/// Reads a document of a known class. What it cannot be used for is in the report.
pub(super) fn read(root: Node, class: Class, report: &mut Report<'_>) -> Item {
    match class {
        Class::Stack(version) => read_stack(root, version, report),
        Class::Source => match typed(&root, "gitrepository.json", report) {
            Some(document) => Item::Source(Box::new(source::read(&root, document, report))),
            None => Item::Nothing,
        },
        Class::ServiceAccount => read_service_account(&root, report),
        Class::ConfigMap => read_config_map(&root, report),
        Class::Secret => {
            let name = Identity::of(&root).full_name().unwrap_or_default();
            let encrypted = root.get("sops").is_some();
            let message = if encrypted { messages::encrypted_secret } else { messages::secret_in_git };
            report.say(Severity::Notice, root.spot, message(&name));
            Item::Nothing
        }
        Class::Provider => read_provider(&root, report).unwrap_or(Item::Nothing),
        Class::Alert => read_alert(&root, report).unwrap_or(Item::Nothing),
        Class::Team => match typed(&root, "team-v1.json", report) {
            Some(document) => {
                let (name, members) = team::read(&root, document, report);
                Item::Team(name, members)
            }
            None => Item::Nothing,
        },
        Class::Freeze => read_freeze(&root, report).unwrap_or(Item::Nothing),
        Class::Context | Class::Restriction => {
            read_later(&root, report);
            Item::Nothing
        }
        Class::List | Class::Ignored | Class::Faulty => Item::Nothing,
    }
}

fn schema_of(file: &str) -> Option<&'static KindSchema> {
    schema::schemas().iter().find(|schema| schema.file == file)
}

/// Checks a document against its schema; its wire type if it has the form.
fn typed<T: DeserializeOwned>(root: &Node, file: &str, report: &mut Report<'_>) -> Option<T> {
    checked(root, file, &|_| None, report)
}

fn checked<T: DeserializeOwned>(
    root: &Node,
    file: &str,
    explain: check::Explain<'_>,
    report: &mut Report<'_>,
) -> Option<T> {
    let schema = schema_of(file)?;
    let faults = check::faults(root, &schema.schema, explain);
    if faults.is_empty() {
        return match serde_json::from_value(root.to_json()) {
            Ok(document) => Some(document),
            Err(error) => {
                report.say(Severity::Error, root.spot, error.to_string());
                None
            }
        };
    }
    for fault in faults {
        report.say(Severity::Error, fault.spot, fault.message);
    }
    None
}

fn read_stack(root: Node, version: Since, report: &mut Report<'_>) -> Item {
    let file = match version {
        Since::Stack => "stack-v1.json",
        Since::V1Alpha2 => "terraform-v1alpha2.json",
        Since::V1Alpha1 => "terraform-v1alpha1.json",
    };
    let explain = |path: &str| {
        let row = fields::STACK.iter().find(|row| row.path == path && row.since > version)?;
        Some(match row.since {
            Since::Stack => messages::field_of_stack(path),
            Since::V1Alpha2 | Since::V1Alpha1 => messages::newer_field(path),
        })
    };
    let Some(document) = checked(&root, file, &explain, report) else { return Item::Nothing };
    let spot = root.spot;
    match stack::read(root, document, report) {
        Ok(draft) => Item::Stack(Box::new(draft)),
        Err(error) => {
            report.say(Severity::Error, spot, error.to_string());
            Item::Nothing
        }
    }
}

fn object_name(metadata: Metadata) -> ObjectName {
    ObjectName::new(metadata.namespace.unwrap_or_else(|| DEFAULT_NAMESPACE.to_owned()), metadata.name)
}

fn read_service_account(root: &Node, report: &mut Report<'_>) -> Item {
    let Some(document) = typed::<ServiceAccountDocument>(root, "serviceaccount.json", report) else {
        return Item::Nothing;
    };
    let annotations = document.metadata.annotations.clone().unwrap_or_default();
    let role = annotations.get(ROLE_ANNOTATION).cloned();
    if let (Some(role), Some(form)) = (&role, format::by_name("aws-role"))
        && !(form.check)(role)
    {
        let annotations = root.get("metadata").and_then(|node| node.get("annotations"));
        let spot = annotations.and_then(|node| node.get(ROLE_ANNOTATION)).map_or(root.spot, |node| node.spot);
        report.say(Severity::Error, spot, messages::wrong_role_annotation(role, form.allowed));
    }
    Item::ServiceAccount(object_name(document.metadata), role)
}

fn read_config_map(root: &Node, report: &mut Report<'_>) -> Item {
    let Some(document) = typed::<ConfigMapDocument>(root, "configmap.json", report) else {
        return Item::Nothing;
    };
    if document.binary_data.is_some() {
        report.say(Severity::Notice, root.spot_of("binaryData"), messages::binary_data("binaryData"));
    }
    let name = object_name(document.metadata);
    Item::ConfigMap(SecretName::new(name.namespace, name.name), document.data.unwrap_or_default())
}

fn read_provider(root: &Node, report: &mut Report<'_>) -> Option<Item> {
    let name = read_leniently(root, "provider.json", report)?;
    let spec = notification::provider(root, &name, report)?;
    Some(Item::Provider(name, spec))
}

fn read_freeze(root: &Node, report: &mut Report<'_>) -> Option<Item> {
    match freeze::read(root, typed(root, "freeze-v1.json", report)?, report) {
        Ok((name, spec)) => Some(Item::Freeze(name, spec)),
        Err(error) => {
            report.say(Severity::Error, root.spot, error.to_string());
            None
        }
    }
}

fn read_alert(root: &Node, report: &mut Report<'_>) -> Option<Item> {
    let name = read_leniently(root, "alert.json", report)?;
    let spec = notification::alert(root, &name, report)?;
    Some(Item::Alert(name, spec, root.spot_of("spec.providerRef.name")))
}

/// Reports the faults of a provider or an alert, which are used even where they are unusual; the document's name.
fn read_leniently(root: &Node, file: &str, report: &mut Report<'_>) -> Option<ObjectName> {
    for fault in check::faults(root, &schema_of(file)?.schema, &|_| None) {
        report.say(notification::gravity(&fault.message), fault.spot, fault.message);
    }
    let identity = Identity::of(root);
    Some(ObjectName::new(identity.namespace, identity.name?))
}

/// A kind that does not work yet: it must at least have a name and a `spec`.
fn read_later(root: &Node, report: &mut Report<'_>) {
    let identity = Identity::of(root);
    let form = format::by_name("kubernetes-name");
    match (&identity.name, form) {
        (Some(name), Some(form)) if (form.check)(name) => {
            let message = messages::kind_not_applied(&identity.kind, name);
            report.say(Severity::Notice, root.spot, message);
        }
        _ => {
            let allowed = form.map_or("", |form| form.allowed);
            report.say(
                Severity::Error,
                root.spot_of("metadata"),
                messages::missing("metadata.name", allowed),
            );
        }
    }
    if !matches!(root.get("spec").map(|spec| &spec.tree), Some(Tree::Map(_))) {
        report.say(Severity::Error, root.spot_of("spec"), messages::missing("spec", "a mapping"));
    }
}

/// The place of a document in its file.
pub(super) fn place(root: &Node, file: &str) -> Place {
    root.spot.in_file(file)
}
