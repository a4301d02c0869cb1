//! No value that a recorded plan marks as sensitive survives in its summary or its redacted form.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use yuba_core::plan::{read, redact::redact};

fn plans() -> Vec<(String, Vec<u8>)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/plans");
    let entries = fs::read_dir(&root)
        .unwrap_or_else(|error| panic!("shared/fixtures/plans must lie beside the repository: {error}"));
    let paths = entries.map(|entry| entry.unwrap().path()).filter(|path| !path.ends_with("MANIFEST.json"));
    paths.map(|path| (path.display().to_string(), fs::read(&path).unwrap())).collect()
}

/// The texts of `value` that `marks` marks, or (`wanted` false) does not mark.
fn texts(value: &Value, marks: &Value, marked: bool, wanted: bool, found: &mut BTreeSet<String>) {
    let marked = marked || marks == &Value::Bool(true);
    match value {
        Value::String(text) if marked == wanted && text.len() >= 6 => {
            found.insert(text.clone());
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                texts(item, marks.get(index).unwrap_or(&Value::Null), marked, wanted, found);
            }
        }
        Value::Object(members) => {
            for (key, item) in members {
                texts(item, marks.get(key).unwrap_or(&Value::Null), marked, wanted, found);
            }
        }
        _ => {}
    }
}

fn changed_texts(plan: &Value, wanted: bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let resources = ["resource_changes", "resource_drift"].into_iter().filter_map(|key| plan[key].as_array());
    let outputs = plan["output_changes"].as_object();
    let changes = resources
        .flatten()
        .map(|entry| &entry["change"])
        .chain(outputs.into_iter().flat_map(|all| all.values()));
    for change in changes {
        for side in ["before", "after"] {
            let marks = &change[format!("{side}_sensitive")];
            texts(&change[side], marks, false, wanted, &mut found);
        }
    }
    found
}

#[test]
fn no_sensitive_value_survives_in_summary_or_redacted_plan() {
    let mut seen = 0;
    for (path, bytes) in plans() {
        let Ok(plan) = read(bytes.as_slice()) else { continue };
        let text = String::from_utf8(bytes.clone()).unwrap();
        let original: Value = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap();
        let mut redacted = Vec::new();
        redact(bytes.as_slice(), &mut redacted).unwrap();
        let outputs = [String::from_utf8(redacted).unwrap(), serde_json::to_string(&plan.summary).unwrap()];
        let open = changed_texts(&original, false);
        for secret in changed_texts(&original, true).difference(&open) {
            seen += 1;
            let quoted = serde_json::to_string(secret).unwrap();
            assert!(outputs.iter().all(|output| !output.contains(&quoted)), "{path}: {secret}");
        }
    }
    assert!(seen >= 5, "only {seen} sensitive values were seen");
}

#[test]
fn a_redacted_plan_is_summarised_like_the_plan() {
    for (path, bytes) in plans() {
        let Ok(plan) = read(bytes.as_slice()) else { continue };
        let mut redacted = Vec::new();
        redact(bytes.as_slice(), &mut redacted).unwrap();
        let again = read(redacted.as_slice()).unwrap();
        let addresses = |plan: &yuba_core::plan::PlanRead| -> Vec<String> {
            plan.summary.changes.iter().map(|change| change.address.clone()).collect()
        };
        assert_eq!(plan.summary.has_changes, again.summary.has_changes, "{path}");
        assert_eq!(addresses(&plan), addresses(&again), "{path}");
    }
}
