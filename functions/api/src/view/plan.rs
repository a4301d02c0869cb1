//! Changes of resources, one line per attribute.

use yuba_core::plan::summary::{Action, AttributeChange, PlanSummary, Shown};

use crate::wire::Change;

/// What changed behind the engine's back: state → reality.
pub(crate) fn outside(summary: &PlanSummary) -> Vec<Change> {
    summary
        .drift
        .iter()
        .map(|drift| Change {
            address: drift.address.clone(),
            action: action(&drift.action).to_owned(),
            attributes: drift.attributes.iter().map(attribute).collect(),
        })
        .collect()
}

/// What a plan would change.
pub(crate) fn wanted(summary: &PlanSummary) -> Vec<Change> {
    summary
        .changes
        .iter()
        .map(|change| Change {
            address: change.address.clone(),
            action: action(&change.action).to_owned(),
            attributes: change.attributes.iter().map(attribute).collect(),
        })
        .collect()
}

fn attribute(change: &AttributeChange) -> String {
    format!("{}: {} → {}", change.path, shown(&change.before), shown(&change.after))
}

fn shown(value: &Shown) -> String {
    match value {
        Shown::Absent => "(absent)".to_owned(),
        Shown::Value(datum) => {
            serde_json::to_string(datum).unwrap_or_else(|_| "(not to be shown)".to_owned())
        }
        Shown::Long { prefix, bytes, .. } => format!("{prefix:?}… ({bytes} bytes)"),
        Shown::Unknown => "(known after apply)".to_owned(),
        Shown::Sensitive => "(sensitive)".to_owned(),
    }
}

fn action(action: &Action) -> &str {
    match action {
        Action::NoOp => "no-op",
        Action::Create => "create",
        Action::Read => "read",
        Action::Update => "update",
        Action::Delete => "delete",
        Action::DeleteThenCreate | Action::CreateThenDelete => "replace",
        Action::ForgetThenCreate => "forget and create",
        Action::Forget => "forget",
        Action::Other(other) => other,
    }
}
