//! What is published about manifests and events is what the code does.

#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;

use yuba_core::cloud_event::CloudEvent;
use yuba_core::manifest::{reference, schemas};

fn published(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}; {ADVICE}", path.display()))
}

const ADVICE: &str = "run `cargo run -p yuba-core --example schema` and commit what it changes";

#[test]
fn the_published_schemas_are_current() {
    for kind in schemas() {
        assert!(
            published(&format!("schema/{}", kind.file)) == kind.to_text(),
            "{} differs; {ADVICE}",
            kind.file
        );
    }
}

#[test]
fn the_published_schema_of_events_is_current() {
    assert!(
        published("schema/event.json") == CloudEvent::schema(),
        "docs/schema/event.json differs; {ADVICE}"
    );
}

#[test]
fn the_published_reference_is_current() {
    assert!(published("manifests.md") == reference(), "docs/manifests.md differs; {ADVICE}");
}
