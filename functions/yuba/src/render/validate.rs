//! What `yuba validate` says.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use yuba_core::manifest::{ManifestSet, Severity};

use super::words::{count, few};

/// One line per finding, as compilers write it, then what there is and how many findings of each severity.
pub(crate) fn text(set: &ManifestSet) -> String {
    let findings = set.findings.iter().map(|finding| format!("{finding}\n"));
    let of = |severity: Severity| count(set.of_severity(severity).count(), &severity.to_string());
    format!(
        "{}{}, {}; {}, {}, {}\n{}",
        findings.collect::<String>(),
        count(set.stacks.len(), "stack"),
        count(set.sources.len(), "source"),
        of(Severity::Error),
        of(Severity::Warning),
        of(Severity::Notice),
        held_back(set),
    )
}

/// How many documents that are held back are named in text; JSON has them all.
const MOST_NAMED: usize = 20;

fn held_back(set: &ManifestSet) -> String {
    if set.is_held_back {
        return "The whole set would be held back: a Policy, Team or Freeze is faulty.\n".to_owned();
    }
    if set.held_back.is_empty() {
        return String::new();
    }
    let name = |held: &yuba_core::manifest::HeldBack| match &held.name {
        Some(name) => format!("{} {name}", held.kind),
        None => format!("a document at {}", held.place),
    };
    let names: BTreeSet<String> = set.held_back.iter().map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    format!("Would be held back, their last good version staying in force: {}.\n", few(&names, MOST_NAMED))
}

/// The same for programs.
pub(crate) fn json(set: &ManifestSet) -> Value {
    let items: Vec<Value> = set
        .findings
        .iter()
        .map(|finding| {
            json!({
                "severity": finding.severity,
                "file": finding.place.file,
                "line": finding.place.line,
                "column": finding.place.column,
                "message": finding.message,
            })
        })
        .collect();
    let names = |names: Vec<String>| Value::from(names);
    json!({
        "items": items,
        "stacks": names(set.stacks.iter().map(|stack| stack.name.to_string()).collect()),
        "sources": names(set.sources.iter().map(|source| source.name.to_string()).collect()),
        "errors": set.of_severity(Severity::Error).count(),
        "warnings": set.of_severity(Severity::Warning).count(),
        "notices": set.of_severity(Severity::Notice).count(),
        "heldBack": set.held_back,
        "isHeldBack": set.is_held_back,
    })
}
