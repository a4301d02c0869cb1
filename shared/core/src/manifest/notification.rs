//! From `Provider` and `Alert` documents to their settings. What is unusual in them is a warning, and the rest is used:
//! better a message with less in it than none.

use std::collections::BTreeMap;

use super::fields::{self, Field};
use super::finding::Severity;
use super::messages;
use super::report::Report;
use super::yaml::{Node, Tree};
use crate::event::EventSeverity;
use crate::id::{ObjectName, SecretName};
use crate::notify::{AlertSpec, EventSource, ProviderSpec, Service, pattern};

/// Fields without which a document says nothing.
const ESSENTIAL: [&str; 3] = ["spec.type:", "spec.providerRef", "spec.eventSources:"];

/// How grave a fault of such a document is.
pub(super) fn gravity(fault: &str) -> Severity {
    let is_essential = ESSENTIAL.iter().any(|field| fault.starts_with(field));
    if fault.starts_with("spec.") && !is_essential { Severity::Warning } else { Severity::Error }
}

/// The settings of a provider; `None` where a fault was reported that leaves none.
pub(super) fn provider(root: &Node, name: &ObjectName, report: &mut Report<'_>) -> Option<ProviderSpec> {
    list_unapplied(fields::PROVIDER, root, report);
    let spec = root.get("spec")?;
    let text = |key: &str| spec.text(key).filter(|text| !text.is_empty()).map(str::to_owned);
    let service = Service::from(text("type")?);
    if let Service::Other(other) = &service {
        let known = Service::TO_COME.contains(&other.as_str());
        let message = if known { messages::not_delivered(other) } else { messages::no_service(other) };
        report.say(Severity::Warning, root.spot_of("spec.type"), message);
    }
    let secret = spec.get("secretRef").and_then(|secret| secret.text("name"));
    Some(ProviderSpec {
        service,
        address: text("address"),
        channel: text("channel"),
        username: text("username"),
        timeout: spec.text("timeout").and_then(|timeout| timeout.parse().ok()),
        secret: secret.map(|secret| SecretName::new(name.namespace.clone(), secret)),
        suspend: is_true(spec, "suspend"),
    })
}

/// The settings of an alert; `None` where a fault was reported that leaves none.
pub(super) fn alert(root: &Node, name: &ObjectName, report: &mut Report<'_>) -> Option<AlertSpec> {
    let spec = root.get("spec")?;
    let provider = spec.get("providerRef")?.text("name")?;
    let Tree::List(sources) = &spec.get("eventSources")?.tree else { return None };
    let mut metadata = texts_by_name(spec.get("eventMetadata"));
    if let Some(summary) = spec.text("summary") {
        metadata.insert("summary".to_owned(), summary.to_owned());
    }
    let exclude = patterns(root, "exclusionList", report).unwrap_or_default();
    Some(AlertSpec {
        provider: ObjectName::new(name.namespace.clone(), provider),
        severity: match spec.text("eventSeverity") {
            Some("error") => EventSeverity::Error,
            Some("warning") => EventSeverity::Warning,
            _ => EventSeverity::Info,
        },
        sources: sources.iter().filter_map(|source| event_source(source, name, report)).collect(),
        include: patterns(root, "inclusionList", report),
        exclude,
        metadata,
        suspend: is_true(spec, "suspend"),
    })
}

fn event_source(node: &Node, alert: &ObjectName, report: &mut Report<'_>) -> Option<EventSource> {
    let (kind, name) = (node.text("kind")?, node.text("name")?);
    if !EventSource::KINDS.contains(&kind) {
        report.say(Severity::Notice, node.spot_of("kind"), messages::no_events_of(kind));
    }
    Some(EventSource {
        kind: kind.to_owned(),
        name: name.to_owned(),
        namespace: node.text("namespace").unwrap_or(&alert.namespace).to_owned(),
        labels: texts_by_name(node.get("matchLabels")),
    })
}

/// A list of patterns; those that are none were warned of.
fn patterns(root: &Node, list: &str, report: &mut Report<'_>) -> Option<Vec<String>> {
    let Tree::List(items) = &root.get("spec")?.get(list)?.tree else { return None };
    let mut texts = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Tree::Text(text) = &item.tree else { continue };
        if let Err(why) = pattern(text) {
            let message = messages::no_pattern(&format!("spec.{list}[{index}]"), text, &why);
            report.say(Severity::Warning, item.spot, message);
        }
        texts.push(text.clone());
    }
    Some(texts)
}

fn texts_by_name(node: Option<&Node>) -> BTreeMap<String, String> {
    let Some(Tree::Map(entries)) = node.map(|node| &node.tree) else { return BTreeMap::new() };
    let text = |entry: &super::yaml::Entry| match &entry.value.tree {
        Tree::Text(text) => Some((entry.key.clone(), text.clone())),
        _ => None,
    };
    entries.iter().filter_map(text).collect()
}

fn is_true(node: &Node, key: &str) -> bool {
    matches!(node.get(key).map(|value| &value.tree), Some(Tree::Bool(true)))
}

fn list_unapplied(table: &'static [Field], root: &Node, report: &mut Report<'_>) {
    for (path, field) in fields::unapplied(table, root) {
        report.say(Severity::Notice, root.spot_of(&path), messages::not_applied(&path, field.why, false));
    }
}
