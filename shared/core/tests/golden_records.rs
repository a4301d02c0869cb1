//! Records as older versions of Yuba stored them. Each must still be read, and nothing of it lost.
//!
//! When a record's form changes: raise its `SCHEMA`, keep its file here, teach the reader the old form, and add a file
//! of the new one.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use serde_json::Value;
use yuba_core::access::ApiToken;
use yuba_core::attempt::Attempt;
use yuba_core::audit::{AuditAnchor, AuditEntry, AuditLine, Verifier};
use yuba_core::capacity::{Hold, PlaceRecord, SlotRecord, Ticket, Turn};
use yuba_core::event::Event;
use yuba_core::freeze::Freeze;
use yuba_core::notify::{Alert, Incident, Notification, Provider, ProviderHealth, Said, SlackThread};
use yuba_core::people::{Roster, Team};
use yuba_core::record::{Edge, Installation, Record, StackAlias};
use yuba_core::request::Request;
use yuba_core::run::Run;
use yuba_core::slack::came::Came;
use yuba_core::source::{Definition, Delivery, ManifestSetRecord, Observation, Source};
use yuba_core::stack::Stack;
use yuba_core::trouble::TroubleNotice;

/// A stored record, its type and file, read and written again.
fn check<T: Record>(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.v1.json"));
    let mut stored: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let read: T = serde_json::from_value(stored.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let schema = stored.as_object_mut().and_then(|fields| fields.remove("schema"));
    assert_eq!(schema, Some(Value::from(1)), "{name}");
    // Fields that were added since have their defaults; of those that were there nothing is lost.
    let mut written = serde_json::to_value(&read).unwrap();
    written.as_object_mut().unwrap().retain(|field, _| stored.get(field).is_some());
    assert_eq!(written, stored, "{name} is written as it was read");
}

#[test]
fn records_of_the_first_form_are_read_whole() {
    check::<Stack>("stack");
    check::<Definition>("definition");
    check::<Observation>("observation");
    check::<Run>("run");
    check::<Attempt>("attempt");
    check::<Request>("request");
    check::<Event>("event");
    check::<ManifestSetRecord>("manifest-set");
    check::<Source>("source");
    check::<Edge>("edge");
    check::<StackAlias>("alias");
    check::<Delivery>("delivery");
    check::<Installation>("installation");
    check::<TroubleNotice>("trouble-notice");
    check::<Team>("team");
    check::<Roster>("roster");
    check::<Came>("slack-came");
    check::<Provider>("provider");
    check::<Alert>("alert");
    check::<Notification>("notification");
    check::<ProviderHealth>("provider-health");
    check::<Said>("said");
    check::<SlackThread>("slack-thread");
    check::<Incident>("incident");
    check::<Freeze>("freeze");
    check::<ApiToken>("api-token");
    check::<SlotRecord>("slot");
    check::<Hold>("hold");
    check::<Ticket>("ticket");
    check::<PlaceRecord>("place");
    check::<Turn>("turn");
    check::<AuditEntry>("audit-entry");
    check::<AuditAnchor>("audit-anchor");
}

/// No later version may hash in another way: what was written down then must be verified ever after.
#[test]
fn an_audit_trail_of_the_first_form_is_verified() {
    let golden = [include_str!("golden/audit-anchor.v1.json"), include_str!("golden/audit-entry.v1.json")];
    let [anchor, entry] = golden.map(|text| serde_json::from_str::<Value>(text).unwrap());
    let mut verifier = Verifier::default();
    verifier.take(AuditLine::Anchor(anchor)).unwrap();
    verifier.take(AuditLine::Entry(entry)).unwrap();
    assert_eq!(verifier.finish().unwrap().entries, 1);
}

#[test]
fn every_golden_record_is_of_a_schema_that_is_read() {
    for schema in [
        Stack::SCHEMA,
        Definition::SCHEMA,
        Observation::SCHEMA,
        Run::SCHEMA,
        Attempt::SCHEMA,
        Request::SCHEMA,
        Event::SCHEMA,
        ManifestSetRecord::SCHEMA,
        Source::SCHEMA,
    ] {
        assert!(schema <= 2, "keep a golden record of the form before the newest, and read it");
    }
}
