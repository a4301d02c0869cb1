//! A stack with all that is known of it.

use std::fmt::Write;

use yuba_api::wire::{DefinitionView, DriftReport, StackDetail, StackItem};

use super::Now;
use super::run::held;
use super::words::{count, plain};

/// How a stack that another depends on stands now; `None` where it is not known.
pub(crate) fn dependency(name: &str, stack: Option<&StackItem>) -> String {
    match stack {
        Some(stack) => format!("{name} ({}: {})", stack.state, stack.status),
        None => format!("{name} (no such stack is known)"),
    }
}

/// All that is known of a stack; `dependencies` say how those stand that it depends on.
pub(crate) fn describe(detail: &StackDetail, dependencies: &[String], now: Now) -> String {
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
    if let Some(known) = &detail.definition {
        definition(known, dependencies, &mut line);
    }
    if let Some(observation) = &detail.observation {
        line("Seen", &format!("{} {}", observation.revision, plain(&observation.commit.subject)));
        line("Problems", &observation.problems.join("; "));
        line("Notices", &observation.notices.join("; "));
    }
    line("Trouble", detail.source_trouble.as_deref().unwrap_or_default());
    line("State kept", detail.state_address.as_deref().unwrap_or_default());
    if let Some(applied) = &detail.applied {
        line("Applied", &format!("{} at {} by run {}", applied.revision, applied.at, applied.run));
    }
    line("Checked", detail.checked_at.as_deref().unwrap_or_default());
    if let Some(retry) = &detail.retry {
        let due = retry.due.as_deref().unwrap_or("waits for new input");
        line("Retry", &format!("{}, next try: {due}", count(retry.failures as usize, "failure")));
    }
    if let Some(lock) = &detail.lock {
        line("Lock", &format!("{} {}", lock.id, held(lock, now)));
    }
    line("Pending", &detail.pending.join("; "));
    let drift = |report| drift(report, stack);
    text.push_str(&detail.drift.as_ref().map(drift).unwrap_or_default());
    text.push_str(&runs(detail));
    text
}

fn definition(definition: &DefinitionView, dependencies: &[String], line: &mut dyn FnMut(&str, &str)) {
    line("Manifest", &format!("{} ({}, snapshot {})", definition.place, definition.set, definition.snapshot));
    line("Held back", &held_back(definition));
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
    for dependency in dependencies {
        line("Depends on", dependency);
    }
    line("Engine", definition.engine.as_deref().unwrap_or_default());
    line("Planned only", definition.planned_only_because.as_deref().unwrap_or_default());
    line("Not applied", &definition.not_applied.join(", "));
}

fn held_back(definition: &DefinitionView) -> String {
    let why = definition.held_back.as_ref();
    why.map(|why| format!("its last good version stays in force: {why}")).unwrap_or_default()
}

fn drift(drift: &DriftReport, stack: &StackItem) -> String {
    let mut text = format!("\nDrift since {}, found by run {}:\n", drift.since, drift.run);
    for line in drift.text.lines() {
        let _ = if line.is_empty() { writeln!(text) } else { writeln!(text, "  {line}") };
    }
    // A run that is under way has a plan of its own, and may be putting it right.
    if let (Some(plan), true) = (&drift.plan, stack.run.as_ref() == Some(&drift.run)) {
        let (namespace, name) = (&stack.namespace, &stack.name);
        let _ = writeln!(text, "  `yuba approve {namespace}/{name} --plan {plan}` puts it right.");
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_names_each_resource_and_attribute() {
        let report = DriftReport {
            run: "01".to_owned(),
            since: "2026-11-30T08:25:57Z".to_owned(),
            resources: 1,
            plan: Some("plan-main-0123456789@aabbccddeeff".to_owned()),
            text: "~ toy_bucket.a was changed outside\n    ~ tags.team: \"net\" → \"ops\"\n".to_owned(),
        };
        insta::assert_snapshot!(drift(&report, &stack(Some("01"))).trim_start(), @r#"
        Drift since 2026-11-30T08:25:57Z, found by run 01:
          ~ toy_bucket.a was changed outside
              ~ tags.team: "net" → "ops"
          `yuba approve infra/net --plan plan-main-0123456789@aabbccddeeff` puts it right.
        "#);
        assert!(!drift(&report, &stack(Some("02"))).contains("yuba approve"));
    }

    #[test]
    fn a_dependency_says_how_it_stands_now() {
        let mut other = stack(None);
        other.status = "Drift detected: 1 resource".to_owned();
        insta::assert_snapshot!(dependency("infra/net", Some(&other)), @"infra/net (drifted: Drift detected: 1 resource)");
        insta::assert_snapshot!(dependency("infra/gone", None), @"infra/gone (no such stack is known)");
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
