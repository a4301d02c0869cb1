//! Drift: what a plan of the last applied revision says about reality.
//!
//! The plan mixes two things: what was changed **outside** since the last apply (`resource_drift`), and what the code
//! still **wants** (`resource_changes`). A wanted change is explained where it puts back, attribute by attribute, what
//! was changed outside. What is not explained has another cause (a provider's new version, a module, a data source),
//! and putting it "right" would be a change that nobody asked for.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::DriftDigest;
use crate::plan::summary::{
    Action, AttributeChange, PlanReport, PlanSummary, ResourceChange, ResourceDrift, Shown,
};

/// What a drift check found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DriftReport {
    /// What was changed outside.
    pub outside: Vec<ResourceDrift>,
    /// What the code wants that nothing outside explains.
    pub wanted: Vec<ResourceChange>,
    /// Whether the plan that found it may be applied without asking; else why not.
    pub remediable: Result<(), Vec<Obstacle>>,
    /// Equal for the same drift: "it came back unchanged".
    pub digest: DriftDigest,
    /// Resources that drifted or that the plan would change, also those too many to list.
    pub resources: u32,
}

/// Why a plan must not be applied as remediation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// Nothing would be done: the drift lies in the state alone, or in what the code does not set.
    NothingToDo,
    /// The plan is not whole.
    PlanErrored,
    /// The resource would be deleted, replaced or forgotten.
    Destructive(String),
    /// Nothing outside explains the change of the resource.
    Unexplained(String),
    /// The resource drifted, but this attribute would change for another reason.
    UnexplainedAttribute(String, String),
    /// Whether this sensitive attribute goes back to what it was cannot be seen.
    Hidden(String, String),
    /// A data source is read again during apply: what follows from it is not known.
    ReadsData(String),
    /// Not only attributes would change: a move, an import, an invoked action.
    MoreThanValues(String),
    /// The plan is too large to look at every change.
    TooLarge,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingToDo => formatter.write_str("applying the code would not undo it"),
            Self::PlanErrored => formatter.write_str("planning failed half-way"),
            Self::Destructive(address) => {
                write!(formatter, "{address} would be deleted, replaced or forgotten")
            }
            Self::Unexplained(address) => {
                write!(formatter, "{address} would change, but was not changed outside")
            }
            Self::UnexplainedAttribute(address, path) => {
                write!(formatter, "{address}: {path} would change, but was not changed outside")
            }
            Self::Hidden(address, path) => {
                write!(formatter, "{address}: {path} is sensitive, so that its old value cannot be compared")
            }
            Self::ReadsData(address) => write!(formatter, "{address} is read during apply"),
            Self::MoreThanValues(address) => write!(formatter, "{address} is moved, imported or invoked"),
            Self::TooLarge => formatter.write_str("the plan is too large to check every change"),
        }
    }
}

impl DriftReport {
    /// What the summary of a drift plan says.
    pub fn of(plan: &PlanSummary) -> Self {
        let outside: BTreeMap<&str, &ResourceDrift> =
            plan.drift.iter().map(|drift| (drift.address.as_str(), drift)).collect();
        let mut obstacles = Vec::new();
        let mut wanted = Vec::new();
        for change in &plan.changes {
            let found = obstacles_of(change, outside.get(change.address.as_str()).copied());
            if !found.is_empty() {
                wanted.push(change.clone());
            }
            obstacles.extend(found);
        }
        obstacles.extend(obstacles_of_plan(plan));
        let beyond =
            plan.changes.iter().filter(|change| !outside.contains_key(change.address.as_str())).count();
        Self {
            outside: plan.drift.clone(),
            wanted,
            remediable: if obstacles.is_empty() { Ok(()) } else { Err(obstacles) },
            digest: digest(plan),
            resources: plan.counts.drift.saturating_add(u32::try_from(beyond).unwrap_or(u32::MAX)),
        }
    }

    /// Whether there is any drift.
    pub fn is_drifted(&self) -> bool {
        self.resources > 0
    }

    /// What stands under STATUS: `Drift detected: 3 resources`.
    pub fn sentence(&self) -> String {
        match self.resources {
            0 => "No drift".to_owned(),
            1 => "Drift detected: 1 resource".to_owned(),
            many => format!("Drift detected: {many} resources"),
        }
    }
}

fn obstacles_of_plan(plan: &PlanSummary) -> Vec<Obstacle> {
    let nothing = plan.changes.is_empty() && plan.counts.drift > 0;
    let invoked = plan.invocations.iter().map(|address| Obstacle::MoreThanValues(address.clone()));
    let whole = [
        (plan.errored, Obstacle::PlanErrored),
        (nothing, Obstacle::NothingToDo),
        (plan.left_out.details > 0 || plan.left_out.entries > 0, Obstacle::TooLarge),
    ];
    whole.into_iter().filter(|(holds, _)| *holds).map(|(_, obstacle)| obstacle).chain(invoked).collect()
}

fn obstacles_of(change: &ResourceChange, outside: Option<&ResourceDrift>) -> Vec<Obstacle> {
    let address = change.address.clone();
    if change.moved_from.is_some() || change.imported.is_some() || change.deposed.is_some() {
        return vec![Obstacle::MoreThanValues(address)];
    }
    match (&change.action, outside) {
        (Action::NoOp, _) => Vec::new(),
        (Action::Read, _) => vec![Obstacle::ReadsData(address)],
        (action, _) if action.is_destructive() => vec![Obstacle::Destructive(address)],
        // It is gone, and would be made again.
        (Action::Create, Some(drift)) if drift.action == Action::Delete => Vec::new(),
        (Action::Update, Some(drift)) if drift.action == Action::Update => unexplained(change, drift),
        _ => vec![Obstacle::Unexplained(address)],
    }
}

/// The attributes of an update that do not go back to what they were before the drift.
fn unexplained(change: &ResourceChange, drift: &ResourceDrift) -> Vec<Obstacle> {
    let address = &change.address;
    let before_drift = |path: &str| drift.attributes.iter().find(|one| one.path == path);
    let judge = |attribute: &AttributeChange| match before_drift(&attribute.path) {
        // The provider computes it anew; no value is asked for.
        _ if attribute.after == Shown::Unknown => None,
        Some(drifted) if hidden(attribute) || hidden(drifted) => {
            Some(Obstacle::Hidden(address.clone(), attribute.path.clone()))
        }
        Some(drifted) if drifted.before == attribute.after && drifted.after == attribute.before => None,
        _ => Some(Obstacle::UnexplainedAttribute(address.clone(), attribute.path.clone())),
    };
    let found: Vec<Obstacle> = change.attributes.iter().filter_map(judge).collect();
    let restores = change.attributes.iter().any(|attribute| before_drift(&attribute.path).is_some());
    if found.is_empty() && !restores { vec![Obstacle::Unexplained(address.clone())] } else { found }
}

fn hidden(attribute: &AttributeChange) -> bool {
    attribute.before == Shown::Sensitive || attribute.after == Shown::Sensitive
}

/// Over everything that a person would see of the drift; never over a sensitive value.
fn digest(plan: &PlanSummary) -> DriftDigest {
    let seen = (&plan.drift, &plan.changes, &plan.outputs, &plan.counts);
    DriftDigest::of(serde_json::to_string(&seen).unwrap_or_default().as_bytes())
}

/// What lists and messages show of drift.
pub(crate) fn drift_sentence(resources: u32) -> String {
    let noun = if resources == 1 { "resource" } else { "resources" };
    format!("Drift detected: {resources} {noun}")
}

/// How many resources a drift check found changed: those seen outside, or else those that a plan would change.
pub(crate) fn drifted_resources(report: &PlanReport) -> u32 {
    let counts = report.counts;
    let planned = counts.create + counts.update + counts.delete + counts.replace + counts.forget;
    if counts.drift > 0 { counts.drift } else { planned }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(drift: &str, changes: &str) -> DriftReport {
        let plan = format!(
            r#"{{"format_version":"1.2","resource_drift":[{drift}],"resource_changes":[{changes}]}}"#
        );
        DriftReport::of(&crate::plan::read(plan.as_bytes()).unwrap().summary)
    }

    fn entry(actions: &str, before: &str, after: &str) -> String {
        format!(
            r#"{{"address":"a.b","type":"a","mode":"managed","change":{{"actions":[{actions}],"before":{before},
            "after":{after},"after_unknown":{{"etag":true}},"before_sensitive":{{"secret":true}}}}}}"#
        )
    }

    fn obstacles(drift: &str, changes: &str) -> String {
        let found = report(drift, changes).remediable.err().unwrap_or_default();
        found.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn what_is_put_back_is_remediable() {
        let drift = entry(r#""update""#, r#"{"n":1}"#, r#"{"n":2}"#);
        let change = entry(r#""update""#, r#"{"n":2}"#, r#"{"n":1}"#);
        let report = report(&drift, &change);
        assert_eq!((report.remediable.clone(), report.wanted.len()), (Ok(()), 0));
        assert_eq!(report.sentence(), "Drift detected: 1 resource");
    }

    #[test]
    fn what_was_deleted_outside_may_be_made_again_but_nothing_may_be_replaced() {
        let gone = entry(r#""delete""#, r#"{"n":1}"#, "null");
        assert_eq!(obstacles(&gone, &entry(r#""create""#, "null", r#"{"n":1}"#)), "");
        let replace = entry(r#""delete","create""#, r#"{"n":2}"#, r#"{"n":1}"#);
        insta::assert_snapshot!(obstacles(&gone, &replace), @"a.b would be deleted, replaced or forgotten");
    }

    #[test]
    fn a_change_that_nothing_outside_explains_is_in_the_way() {
        let drift = entry(r#""update""#, r#"{"n":1}"#, r#"{"n":2}"#);
        let more = entry(r#""update""#, r#"{"n":2,"tls":"1.1"}"#, r#"{"n":1,"tls":"1.2"}"#);
        insta::assert_snapshot!(obstacles(&drift, &more), @"a.b: tls would change, but was not changed outside");
        insta::assert_snapshot!(obstacles("", &more), @"a.b would change, but was not changed outside");
        insta::assert_snapshot!(obstacles(&drift, ""), @"applying the code would not undo it");
    }

    #[test]
    fn a_sensitive_attribute_cannot_be_compared() {
        let drift = entry(r#""update""#, r#"{"secret":"one"}"#, r#"{"secret":"two"}"#);
        let back = entry(r#""update""#, r#"{"secret":"two"}"#, r#"{"secret":"one"}"#);
        insta::assert_snapshot!(obstacles(&drift, &back), @"a.b: secret is sensitive, so that its old value cannot be compared");
    }

    #[test]
    fn the_same_drift_has_the_same_digest() {
        let (one, two) = (entry(r#""update""#, "{}", r#"{"n":2}"#), entry(r#""update""#, "{}", r#"{"n":3}"#));
        assert_eq!(report(&one, "").digest, report(&one, "").digest);
        assert_ne!(report(&one, "").digest, report(&two, "").digest);
    }
}
