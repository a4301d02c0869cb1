//! A plan as people read it (`yuba show plan`): what is lost first, and why.

use std::fmt::Write;

use super::narrow::is_under;
use super::style::{Paint, Styles};
use super::summary::{
    Action, AttributeChange, FailedCheck, OutputChange, PlanSummary, ResourceChange, ResourceDrift,
};
use super::value::{difference, visible};

/// What of a plan is shown, and how.
#[derive(Debug, Clone, Copy, Default)]
pub struct View<'a> {
    /// Only what lies at or under this address (`module.a`, `aws_instance.b`, `aws_instance.b[0]`).
    pub address: Option<&'a str>,
    /// Whether with colours.
    pub styles: Styles,
}

impl View<'_> {
    /// Whether `address` lies at or under the address that is asked for.
    fn shows(&self, address: &str) -> bool {
        self.address.is_none_or(|wanted| is_under(address, wanted))
    }
}

/// The whole plan as text. Nothing in it depends on the width of a terminal.
pub fn plan(summary: &PlanSummary, view: &View<'_>) -> String {
    let mut text = String::new();
    let shown: Vec<&ResourceChange> =
        summary.changes.iter().filter(|change| view.shows(&change.address)).collect();
    for change in &shown {
        text.push_str(&resource(change, view.styles));
    }
    if view.address.is_none() {
        text.push_str(&outputs(&summary.outputs, view.styles));
        text.push_str(&checks(&summary.failed_checks));
    }
    text.push_str(&left_out(summary));
    text.push_str(&closing(summary, view, shown.len()));
    text
}

/// Some changes of a plan, as text.
pub fn changes(changes: &[ResourceChange], view: &View<'_>) -> String {
    let shown = changes.iter().filter(|change| view.shows(&change.address));
    shown.map(|change| resource(change, view.styles)).collect()
}

/// What was changed outside, as text.
pub fn drift(drift: &[ResourceDrift], view: &View<'_>) -> String {
    let mut text = String::new();
    for one in drift.iter().filter(|one| view.shows(&one.address)) {
        let what = if one.action == Action::Delete { "was deleted" } else { "was changed" };
        let paint = Paint::of(view.styles, &one.action);
        let _ = writeln!(text, "{} {} {what} outside", paint.symbol(), one.address);
        text.push_str(&attributes(&one.attributes, &[]));
    }
    text
}

fn resource(change: &ResourceChange, styles: Styles) -> String {
    let paint = Paint::of(styles, &change.action);
    let deposed = change.deposed.as_ref().map(|key| format!(" (deposed object {key})")).unwrap_or_default();
    let mut text =
        format!("{} {}{deposed} {}\n", paint.symbol(), change.address, paint.bold(&fate(&change.action)));
    let notes = [
        change.moved_from.as_ref().map(|from| format!("moved from {from}")),
        change.imported.as_ref().map(|id| format!("imported from {id:?}")),
        change.reason.as_deref().map(reason),
    ];
    for note in notes.into_iter().flatten() {
        let _ = writeln!(text, "    ({note})");
    }
    text.push_str(&attributes(&change.attributes, &change.replace_paths));
    text.push('\n');
    text
}

fn attributes(changes: &[AttributeChange], forcing: &[String]) -> String {
    let mut text = String::new();
    for change in changes {
        let forces = forcing.iter().any(|path| covers(path, &change.path));
        let note = if forces { "  # forces replacement" } else { "" };
        text.push_str(&difference(change, note));
    }
    for path in forcing.iter().filter(|path| !changes.iter().any(|change| covers(path, &change.path))) {
        let _ = writeln!(text, "    {path}  # forces replacement");
    }
    text
}

/// Whether a change at `path` is part of what `forcing` names, or the other way about.
fn covers(forcing: &str, path: &str) -> bool {
    let under = |whole: &str, part: &str| {
        part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    under(forcing, path) || under(path, forcing)
}

fn outputs(outputs: &[OutputChange], styles: Styles) -> String {
    let mut text = String::new();
    for output in outputs {
        let paint = Paint::of(styles, &output.action);
        let _ = writeln!(text, "{} output {}", paint.symbol(), output.name);
        text.push_str(&attributes(&output.attributes, &[]));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn checks(checks: &[FailedCheck]) -> String {
    let mut text = String::new();
    for check in checks {
        let verb = if check.status == "fail" { "failed" } else { "could not be checked" };
        let _ = writeln!(text, "! {} {verb}: {}", check.address, visible(&check.problems.join("; ")));
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

fn left_out(summary: &PlanSummary) -> String {
    let mut text = String::new();
    let left_out = summary.left_out;
    if left_out.details > 0 {
        let _ = writeln!(
            text,
            "The attributes of {} more changes are not shown: the plan is too large.",
            left_out.details
        );
    }
    if left_out.entries > 0 {
        let _ = writeln!(text, "{} more changes are not listed: the plan is too large.", left_out.entries);
    }
    text
}

fn closing(summary: &PlanSummary, view: &View<'_>, shown: usize) -> String {
    let mut text = String::new();
    if summary.errored {
        text.push_str("Planning failed half-way: this is not all.\n");
    }
    let words = if summary.has_changes { summary.counts.sentence() } else { "no changes".to_owned() };
    if let Some(address) = view.address {
        let part = summary.narrowed(address).map(|part| part.counts.sentence()).unwrap_or_default();
        let colon = if part.is_empty() { "" } else { ": " };
        let all = summary.changes.len();
        let _ = writeln!(text, "Narrowed to {address}, {shown} of {all} changes{colon}{part}.");
        let _ = writeln!(text, "The whole plan: {words}.");
        return text;
    }
    let _ = writeln!(text, "Plan: {words}.");
    text
}

fn fate(action: &Action) -> String {
    let words = match action {
        Action::NoOp => "stays as it is",
        Action::Create => "will be created",
        Action::Read => "will be read during apply",
        Action::Update => "will be updated in place",
        Action::Delete => "will be destroyed",
        Action::DeleteThenCreate => "must be replaced: destroyed, then created",
        Action::CreateThenDelete => "must be replaced: created, then destroyed",
        Action::ForgetThenCreate => "will be forgotten and created anew; the old one stays in reality",
        Action::Forget => "will be forgotten, not destroyed",
        Action::Other(name) => return format!("has the action `{name}`, which Yuba does not know"),
    };
    words.to_owned()
}

/// The engine's `action_reason` in words.
fn reason(code: &str) -> String {
    let words = match code {
        "replace_because_cannot_update" => "it cannot be updated in place",
        "replace_because_tainted" => "it is tainted: a former apply left it half-made",
        "replace_by_request" => "a replacement was asked for",
        "replace_by_triggers" => "what `replace_triggered_by` names changes",
        "delete_because_no_resource_config" => "its block is gone from the code",
        "delete_because_no_module" => "its module is gone from the code",
        "delete_because_wrong_repetition" => "count or for_each came or went",
        "delete_because_count_index" => "its index is past count",
        "delete_because_each_key" => "its key is gone from for_each",
        "delete_because_no_move_target" => "it was moved to an address that is not in the code",
        "read_because_config_unknown" => "its arguments are known after apply",
        "read_because_dependency_pending" => "something that it depends on changes",
        "read_because_check_nested" => "it belongs to a check",
        other => other,
    };
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(changes: &str, address: Option<&str>) -> String {
        let json = format!(r#"{{"format_version":"1.2","resource_changes":[{changes}]}}"#);
        let read = crate::plan::read(json.as_bytes()).unwrap();
        plan(&read.summary, &View { address, styles: Styles::Plain })
    }

    const REPLACE: &str = r#"{"address":"module.a.t.r[0]","action_reason":"replace_because_cannot_update",
        "change":{"actions":["delete","create"],"before":{"ami":"a","id":"1","pw":"x"},"after":{"ami":"b","pw":"y"},
        "after_unknown":{"id":true},"after_sensitive":{"pw":true},"replace_paths":[["ami"]]}}"#;
    const UPDATE: &str = r#"{"address":"t.u","previous_address":"t.old","change":{"actions":["update"],
        "before":{"policy":"{\"S\":[{\"E\":\"Allow\"}]}","script":"one\ntwo\nthree\n"},
        "after":{"policy":"{\"S\":[{\"E\":\"Deny\"}]}","script":"one\n2\nthree\n"}}}"#;

    #[test]
    fn what_is_lost_comes_first_with_its_reason() {
        insta::assert_snapshot!(check(&format!("{UPDATE},{REPLACE}"), None), @r#"
        -/+ module.a.t.r[0] must be replaced: destroyed, then created
            (it cannot be updated in place)
            ~ ami: "a" → "b"  # forces replacement
            ~ id: "1" → (known after apply)
            ~ pw: (sensitive value) → (sensitive value)

        ~ t.u will be updated in place
            (moved from t.old)
            policy: (JSON)
                ~ S[0].E: "Allow" → "Deny"
            script:
                one
              - two
              + 2
                three

        Plan: 1 to add, 1 to change, 1 to destroy; 1 to move.
        "#);
    }

    #[test]
    fn an_address_narrows_at_borders_only() {
        let narrowed = |address| check(REPLACE, Some(address)).contains("must be replaced");
        assert!(["module.a", "module.a.t.r", "module.a.t.r[0]"].into_iter().all(narrowed));
        assert!(!["modul", "module.a.t.r[0].x", "t.r"].into_iter().any(narrowed));
        insta::assert_snapshot!(check(REPLACE, Some("module.b")), @"
        Narrowed to module.b, 0 of 1 changes.
        The whole plan: 1 to add, 0 to change, 1 to destroy.
        ");
    }

    #[test]
    fn outputs_checks_and_colours() {
        let json = r#"{"format_version":"1.2","resource_changes":[],"output_changes":{"o":{"actions":["update"],"before":1,
            "after":2}},"checks":[{"address":{"to_display":"check.c"},"status":"fail","instances":[{"status":"fail",
            "problems":[{"message":"too hot"}]}]}]}"#;
        let read = crate::plan::read(json.as_bytes()).unwrap();
        insta::assert_snapshot!(plan(&read.summary, &View::default()), @"
        ~ output o
            ~ value: 1 → 2

        ! check.c failed: too hot

        Plan: 1 output.
        ");
        assert!(
            plan(&read.summary, &View { styles: Styles::Ansi, ..View::default() }).contains("\u{1b}[33m~")
        );
    }
}
