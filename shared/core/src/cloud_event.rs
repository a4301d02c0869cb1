//! Events as they are published: CloudEvents 1.0 in JSON, of which `docs/schema/event.json` is made.
//! <https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md>,
//! <https://github.com/cloudevents/spec/blob/main/cloudevents/extensions/sequence.md>

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use crate::event::{Event, EventKind, EventSeverity};
use crate::id::InstallationId;

/// An event of Yuba, as CloudEvents 1.0 has it. Fields may come to be added; none changes its meaning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "Event")]
pub struct CloudEvent {
    /// `1.0`.
    pub specversion: &'static str,
    /// Equal for each publication of one fact: an event is published at least once.
    pub id: String,
    /// The installation that publishes: `/yuba/prod`.
    pub source: String,
    /// What happened.
    #[serde(rename = "type")]
    #[schemars(with = "EventType")]
    pub kind: &'static str,
    /// The stack's name: `infra/network-prod`.
    pub subject: String,
    /// When, in UTC, as RFC 3339 writes it.
    pub time: String,
    /// `data.number` with leading zeros: orders the events of a stack as text.
    pub sequence: String,
    /// `application/json`.
    pub datacontenttype: &'static str,
    /// What is known of it.
    pub data: CloudEventData,
}

/// What is known of an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "EventData")]
pub struct CloudEventData {
    /// The stack's id, which it keeps under another name.
    pub stack: String,
    /// The stack's name.
    pub name: String,
    /// Counts from 1 within the stack.
    pub number: u64,
    /// How grave it is.
    #[schemars(with = "Severity")]
    pub severity: &'static str,
    /// The run it happened to; `null` where it is about the stack alone.
    pub run: Option<String>,
    /// The revision it happened at, `main@sha1:<40 hex>`; `null` where it is about the stack alone.
    pub revision: Option<String>,
    /// The sentence that people see.
    pub message: String,
}

impl CloudEvent {
    /// What receivers can choose events by without reading them: names and values, all text.
    pub fn attributes(installation: &InstallationId, event: &Event) -> [(&'static str, String); 5] {
        [
            ("installation", installation.to_string()),
            ("type", event.kind.as_type().to_owned()),
            ("severity", event.kind.severity().as_str().to_owned()),
            ("namespace", event.name.namespace.clone()),
            ("stack", event.name.to_string()),
        ]
    }

    /// An event as an installation publishes it.
    pub fn of(source: impl Into<String>, event: &Event) -> Self {
        Self {
            specversion: "1.0",
            id: event.id(),
            source: source.into(),
            kind: event.kind.as_type(),
            subject: event.name.to_string(),
            time: event.at.to_string(),
            sequence: format!("{:012}", event.number),
            datacontenttype: "application/json",
            data: CloudEventData {
                stack: event.stack.to_string(),
                name: event.name.to_string(),
                number: event.number,
                severity: event.kind.severity().as_str(),
                run: event.run.map(|run| run.to_string()),
                revision: event.revision.as_ref().map(ToString::to_string),
                message: event.message.clone(),
            },
        }
    }

    /// The text of `docs/schema/event.json` (JSON Schema, draft 2020-12).
    pub fn schema() -> String {
        let generator = SchemaSettings::draft2020_12().into_generator();
        format!("{:#}\n", generator.into_root_schema_for::<Self>().to_value())
    }
}

/// Stands for the types of events where the schema is made.
struct EventType;

impl JsonSchema for EventType {
    fn schema_name() -> Cow<'static, str> {
        "EventType".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": EventKind::ALL.map(EventKind::as_type) })
    }
}

/// Stands for severities where the schema is made.
struct Severity;

impl JsonSchema for Severity {
    fn schema_name() -> Cow<'static, str> {
        "Severity".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": EventSeverity::ALL.map(EventSeverity::as_str) })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// The names that the schema demands below a pointer, and those that it knows.
    fn names(schema: &Value, at: &str) -> [BTreeSet<String>; 2] {
        let held = schema.pointer(at).unwrap();
        let known = held["properties"].as_object().unwrap().keys().cloned().collect();
        let required = held["required"].as_array().unwrap().iter();
        [required.map(|name| name.as_str().unwrap().to_owned()).collect(), known]
    }

    #[test]
    fn every_event_is_of_the_form_that_the_schema_says() {
        let schema: Value = serde_json::from_str(&CloudEvent::schema()).unwrap();
        let golden = include_str!("../tests/golden/event.v1.json");
        for kind in EventKind::ALL {
            let event = Event { kind, ..serde_json::from_str(golden).unwrap() };
            let written = serde_json::to_value(CloudEvent::of("/yuba/prod", &event)).unwrap();
            for (at, held) in [("", &written), ("/$defs/CloudEventData", &written["data"])] {
                let [required, known] = names(&schema, at);
                let found: BTreeSet<String> = held.as_object().unwrap().keys().cloned().collect();
                assert_eq!(found, known, "{kind:?}");
                assert!(required.is_subset(&found), "{kind:?}");
            }
            let listed =
                |at: &str, value: &Value| schema["$defs"][at]["enum"].as_array().unwrap().contains(value);
            assert!(listed("EventType", &written["type"]), "{kind:?}");
            assert!(listed("Severity", &written["data"]["severity"]), "{kind:?}");
        }
    }
}
