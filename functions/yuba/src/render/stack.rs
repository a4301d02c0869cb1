//! A stack with all that is known of it, and why it was planned.

use std::fmt::Write;

use yuba_api::wire::{Change, DriftReport, RunDetail, StackDetail, StackItem};

use super::words::plain;

/// All that is known of a stack.
pub(crate) fn describe(detail: &StackDetail) -> String {
    let stack = &detail.stack;
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        if !value.is_empty() {
            let _ = writeln!(text, "{:<14}{value}", format!("{name}:"));
        }
    };
    line("Stack", &format!("{}/{}", stack.namespace, stack.name));
    line("Ready", &stack.ready);
    line("State", &stack.state);
    line("Status", &stack.status);
    line("Waits for", &detail.waits_for);
    line("Plan", stack.plan.as_deref().unwrap_or_default());
    if let Some(by) = &detail.suspended_by {
        line("Suspended", &format!("by {} at {} {}", by.who, by.at, by.message));
    }
    if let Some(definition) = &detail.definition {
        line(
            "Manifest",
            &format!("{} ({}, snapshot {})", definition.place, definition.set, definition.snapshot),
        );
        line(
            "Source",
            &format!(
                "{} at {}",
                definition.source,
                if definition.path.is_empty() { "./" } else { &definition.path }
            ),
        );
        line("ApprovePlan", &definition.approve_plan);
        line("Interval", &definition.interval);
        line("Depends on", &definition.depends_on.join(", "));
        line("Engine", definition.engine.as_deref().unwrap_or_default());
        line("Planned only", definition.planned_only_because.as_deref().unwrap_or_default());
        line("Not applied", &definition.not_applied.join(", "));
    }
    if let Some(observation) = &detail.observation {
        line("Seen", &format!("{} {}", observation.revision, plain(&observation.commit.subject)));
        line("Problems", &observation.problems.join("; "));
    }
    if let Some(applied) = &detail.applied {
        line("Applied", &format!("{} at {} by run {}", applied.revision, applied.at, applied.run));
    }
    line("Checked", detail.checked_at.as_deref().unwrap_or_default());
    if let Some(retry) = &detail.retry {
        let due = retry.due.as_deref().unwrap_or("waits for new input");
        line("Retry", &format!("{} failures, next try: {due}", retry.failures));
    }
    if let Some(lock) = &detail.lock {
        line(
            "Lock",
            &format!("{} held by {} for {} since {}", lock.id, lock.who, lock.operation, lock.created),
        );
    }
    line("Pending", &detail.pending.join("; "));
    let drift = |report| drift(report, stack);
    text.push_str(&detail.drift.as_ref().map(drift).unwrap_or_default());
    text.push_str(&runs(detail));
    text
}

fn drift(drift: &DriftReport, stack: &StackItem) -> String {
    let mut text = format!("\nDrift since {}, found by run {}:\n", drift.since, drift.run);
    text.push_str(&changes("  Changed outside (state → reality):", &drift.outside));
    text.push_str(&changes("  To put it right:", &drift.wanted));
    // A run that is under way has a plan of its own, and may be putting it right.
    if let (Some(plan), None) = (&drift.plan, &stack.run) {
        let (namespace, name) = (&stack.namespace, &stack.name);
        let _ = writeln!(text, "  `yuba approve {namespace}/{name} --plan {plan}` puts it right.");
    }
    text
}

fn changes(heading: &str, changes: &[Change]) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let mut text = format!("{heading}\n");
    for change in changes {
        let _ = writeln!(text, "    {} ({})", change.address, change.action);
        for attribute in &change.attributes {
            let _ = writeln!(text, "      {attribute}");
        }
    }
    text
}

fn runs(detail: &StackDetail) -> String {
    if detail.runs.is_empty() {
        return String::new();
    }
    let mut text = "\nRuns:\n".to_owned();
    for run in &detail.runs {
        let _ =
            writeln!(text, "  {} {} {} {} ({})", run.id, run.created_at, run.kind, run.state, run.because);
    }
    text
}

/// Why a stack was planned, or was not.
pub(crate) fn why(detail: &StackDetail, revision: Option<&str>, runs: &[RunDetail]) -> String {
    let name = format!("{}/{}", detail.stack.namespace, detail.stack.name);
    if runs.is_empty() {
        let seen =
            detail.observation.as_ref().map(|observation| observation.revision.clone()).unwrap_or_default();
        let asked = revision.map(|revision| format!(" for {revision}")).unwrap_or_default();
        return format!(
            "{name}: no run was made{asked}. Nothing that can change its plan differs there, or a later revision took its place; the last one seen is {seen}.\n"
        );
    }
    let mut text = String::new();
    for run in runs {
        let _ = writeln!(
            text,
            "{name}: run {} ({}) of {} was made because",
            run.run.number, run.run.kind, run.run.revision
        );
        for reason in &run.because {
            let _ = writeln!(text, "  {reason}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_names_each_resource_and_attribute() {
        let change = Change {
            address: "toy_bucket.a".to_owned(),
            action: "update".to_owned(),
            attributes: vec!["tags.team: \"net\" → \"ops\"".to_owned()],
        };
        let report = DriftReport {
            run: "01".to_owned(),
            since: "2026-11-30T08:25:57Z".to_owned(),
            resources: 1,
            plan: Some("plan-main-0123456789@aabbccddeeff".to_owned()),
            outside: vec![change],
            wanted: Vec::new(),
        };
        insta::assert_snapshot!(drift(&report, &stack(None)).trim_start(), @r#"
        Drift since 2026-11-30T08:25:57Z, found by run 01:
          Changed outside (state → reality):
            toy_bucket.a (update)
              tags.team: "net" → "ops"
          `yuba approve infra/net --plan plan-main-0123456789@aabbccddeeff` puts it right.
        "#);
        assert!(!drift(&report, &stack(Some("02"))).contains("yuba approve"));
    }

    fn stack(run: Option<&str>) -> StackItem {
        serde_json::from_value(serde_json::json!({
            "namespace": "infra", "name": "net", "ready": "True", "state": "drifted", "status": "",
            "run": run, "suspended": false, "drift": 1, "labels": {}, "vanished": false,
            "created_at": "", "updated_at": "",
        }))
        .unwrap()
    }
}
