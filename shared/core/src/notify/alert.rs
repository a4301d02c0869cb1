//! Alerts: which events go to which provider.

use std::collections::BTreeMap;

use regex_lite::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use crate::declared::{Declared, DeclaredSpec};
use crate::event::{Event, EventSeverity};
use crate::id::ObjectName;

/// An `Alert` manifest as it was taken over.
pub type Alert = Declared<AlertSpec>;

/// What an `Alert` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlertSpec {
    /// The provider that delivers.
    pub provider: ObjectName,
    /// How grave an event must be.
    pub severity: EventSeverity,
    /// Whose events.
    pub sources: Vec<EventSource>,
    /// Only messages that one of these patterns finds; all, where there is no list.
    pub include: Option<Vec<String>>,
    /// No messages that one of these patterns finds, included or not.
    pub exclude: Vec<String>,
    /// Said with every message; `summary` among it.
    pub metadata: BTreeMap<String, String>,
    /// Nothing is sent while it is true.
    pub suspend: bool,
}

/// Whose events an alert speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventSource {
    /// `Terraform` or `Stack`: both mean every stack. Others have no events here.
    pub kind: String,
    /// The stack's name, or `*`.
    pub name: String,
    /// The stack's namespace.
    pub namespace: String,
    /// Labels that the stack must have.
    pub labels: BTreeMap<String, String>,
}

impl DeclaredSpec for AlertSpec {
    const KIND: &'static str = "Alert";
    const PARTITION: &'static str = "alerts";
    const SCHEMA: u32 = 1;
}

impl AlertSpec {
    /// Whether an event of a stack with these labels is to be delivered.
    pub fn chooses(&self, event: &Event, labels: &BTreeMap<String, String>) -> bool {
        !self.suspend
            && event.kind.severity() >= self.severity
            && self.sources.iter().any(|source| source.is_of(event, labels))
            && self.include.as_ref().is_none_or(|patterns| finds(patterns, &event.message))
            && !finds(&self.exclude, &event.message)
    }
}

impl EventSource {
    /// The kinds whose events there are.
    pub const KINDS: [&'static str; 2] = ["Terraform", "Stack"];

    fn is_of(&self, event: &Event, labels: &BTreeMap<String, String>) -> bool {
        Self::KINDS.contains(&self.kind.as_str())
            && self.namespace == event.name.namespace
            && (self.name == "*" || self.name == event.name.name)
            && self.labels.iter().all(|(name, value)| labels.get(name) == Some(value))
    }
}

/// The providers that an event goes to, each with the first alert, by name, that chooses it: a provider is told once.
pub fn route<'a>(
    event: &Event,
    labels: &BTreeMap<String, String>,
    alerts: &'a [Alert],
) -> BTreeMap<&'a ObjectName, &'a Alert> {
    let mut chosen = BTreeMap::new();
    let standing = alerts.iter().filter(|alert| alert.vanished.is_none());
    for alert in standing.filter(|alert| alert.spec.chooses(event, labels)) {
        let first = chosen.entry(&alert.spec.provider).or_insert(alert);
        if alert.name < first.name {
            *first = alert;
        }
    }
    chosen
}

/// Reads a pattern of `inclusionList` or `exclusionList`; else why it is none.
pub fn pattern(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text).size_limit(1 << 20).build().map_err(|error| error.to_string())
}

/// Whether a pattern finds something in a message. One that cannot be read, which was warned of, finds nothing.
fn finds(patterns: &[String], message: &str) -> bool {
    patterns.iter().filter_map(|text| pattern(text).ok()).any(|pattern| pattern.is_match(message))
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;
    use crate::event::EventKind;
    use crate::id::{ManifestSetName, StackId, StackName};
    use crate::time::Timestamp;

    fn event(kind: EventKind, message: &str) -> Event {
        Event {
            stack: StackId(Ulid(1)),
            name: StackName::new("infra", "network-prod"),
            number: 1,
            kind,
            run: None,
            revision: None,
            message: message.to_owned(),
            at: Timestamp(0),
        }
    }

    fn source(kind: &str, namespace: &str, name: &str) -> EventSource {
        let (kind, namespace, name) = (kind.to_owned(), namespace.to_owned(), name.to_owned());
        EventSource { kind, name, namespace, labels: BTreeMap::new() }
    }

    fn spec(change: impl FnOnce(&mut AlertSpec)) -> AlertSpec {
        let mut spec = AlertSpec {
            provider: ObjectName::new("infra", "slack"),
            severity: EventSeverity::Info,
            sources: vec![source("Terraform", "infra", "*")],
            include: None,
            exclude: Vec::new(),
            metadata: BTreeMap::new(),
            suspend: false,
        };
        change(&mut spec);
        spec
    }

    fn chooses(kind: EventKind, change: impl FnOnce(&mut AlertSpec)) -> bool {
        let labels = BTreeMap::from([("env".to_owned(), "prod".to_owned())]);
        spec(change).chooses(&event(kind, "Drift detected: 3 resources"), &labels)
    }

    #[test]
    fn a_severity_includes_those_above_it() {
        let chosen = |severity| {
            let kinds = [EventKind::RunApplied, EventKind::ApprovalRequested, EventKind::DriftDetected];
            kinds.map(|kind| chooses(kind, |spec| spec.severity = severity))
        };
        assert_eq!(chosen(EventSeverity::Info), [true, true, true]);
        assert_eq!(chosen(EventSeverity::Warning), [false, true, true]);
        assert_eq!(chosen(EventSeverity::Error), [false, false, true]);
    }

    #[test]
    fn sources_are_named_by_kind_namespace_name_and_labels() {
        let labelled = |value: &str| {
            let labels = BTreeMap::from([("env".to_owned(), value.to_owned())]);
            EventSource { labels, ..source("Stack", "infra", "*") }
        };
        for (source, expected) in [
            (source("Stack", "infra", "network-prod"), true),
            (source("Terraform", "infra", "network"), false),
            (source("Terraform", "flux-system", "*"), false),
            (source("Kustomization", "infra", "*"), false),
            (labelled("prod"), true),
            (labelled("dev"), false),
        ] {
            let words = format!("{source:?}");
            assert_eq!(
                chooses(EventKind::RunApplied, |spec| spec.sources = vec![source]),
                expected,
                "{words}"
            );
        }
    }

    #[test]
    fn an_exclusion_wins_over_an_inclusion_and_what_is_no_pattern_finds_nothing() {
        let lists = |include: Option<&[&str]>, exclude: &[&str]| {
            let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
            chooses(EventKind::DriftDetected, |spec| {
                (spec.include, spec.exclude) = (include.map(owned), owned(exclude));
            })
        };
        assert!(lists(Some(&["^Drift .* 3"]), &[]));
        assert!(!lists(Some(&["^drift"]), &[]));
        assert!(lists(Some(&["x", "(?i)^drift"]), &["applied"]));
        assert!(!lists(Some(&["Drift"]), &["resources$"]));
        assert!(!lists(Some(&["("]), &[]) && lists(None, &["("]));
        assert!(!lists(Some(&[]), &[]), "an empty list includes nothing");
    }

    #[test]
    fn a_provider_is_told_once_by_the_first_alert_that_stands() {
        let alert = |name: &str, vanished, suspend| Alert {
            name: ObjectName::new("infra", name),
            spec: spec(|spec| spec.suspend = suspend),
            set: ManifestSetName("flux".to_owned()),
            snapshot: 1,
            place: String::new(),
            vanished,
        };
        let alerts = [
            alert("c", None, false),
            alert("b", None, false),
            alert("a", Some(Timestamp(1)), false),
            alert("0", None, true),
        ];
        let chosen = route(&event(EventKind::RunApplied, "x"), &BTreeMap::new(), &alerts);
        let names: Vec<_> = chosen.values().map(|alert| alert.name.name.as_str()).collect();
        assert_eq!(names, ["b"]);
    }
}
