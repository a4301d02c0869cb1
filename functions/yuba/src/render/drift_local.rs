//! What `yuba drift check --local` says.

use serde_json::{Value, json};
use yuba_core::drift::DriftReport;
use yuba_core::plan::render::{View, changes, drift};
use yuba_runner::LocalDrift;

use crate::commands::drift_local::Checked;

/// One block per directory: its sentence, what was changed outside, what the code wants.
pub(crate) fn text(checked: &[Checked]) -> String {
    let blocks: Vec<String> = checked.iter().map(block).collect();
    blocks.join("\n")
}

fn block(checked: &Checked) -> String {
    match &checked.outcome {
        Ok(found) => format!("{}: {}\n{}", checked.directory, sentence(found), details(&found.report)),
        Err(error) => {
            let why = format!("{error:#}");
            format!("{}: cannot be checked: {}\n", checked.directory, why.replace('\n', "\n    "))
        }
    }
}

fn sentence(found: &LocalDrift) -> String {
    let empty = if found.state_was_empty && found.report.is_drifted() {
        "; the state holds nothing, so it may be another state that is meant"
    } else {
        ""
    };
    format!("{} ({}{empty})", found.report.sentence(), found.engine)
}

fn details(report: &DriftReport) -> String {
    let mut text = String::new();
    if !report.outside.is_empty() {
        text.push_str("  Changed outside (state → reality):\n");
        text.push_str(&indented(&drift(&report.outside, &View::default())));
    }
    if !report.wanted.is_empty() {
        text.push_str("  What the code wants, and nothing outside explains:\n");
        text.push_str(&indented(&changes(&report.wanted, &View::default())));
    }
    if !report.outside.is_empty() && report.wanted.is_empty() {
        text.push_str(match &report.remediable {
            Ok(()) => "  An apply would put it right, and change nothing else.\n",
            Err(_) => "  An apply would not put it right.\n",
        });
    }
    text
}

fn indented(text: &str) -> String {
    text.trim_end()
        .lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") })
        .collect()
}

/// The same for programs.
pub(crate) fn json(checked: &[Checked]) -> Value {
    json!({"items": checked.iter().map(item).collect::<Vec<_>>()})
}

fn item(checked: &Checked) -> Value {
    match &checked.outcome {
        Ok(found) => json!({
            "directory": checked.directory,
            "engine": found.engine.to_string(),
            "drifted": found.report.is_drifted(),
            "status": found.report.sentence(),
            "outside": found.report.outside,
            "wanted": found.report.wanted,
            "stateWasEmpty": found.state_was_empty,
        }),
        Err(error) => json!({"directory": checked.directory, "error": format!("{error:#}")}),
    }
}
