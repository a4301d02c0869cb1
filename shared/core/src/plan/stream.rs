//! What `plan -json` and `apply -json` say while they run: one JSON object a line.
//!
//! Anything else on the stream (a provider's print, a wrapper's line) is kept as text, never an error.

use serde::Deserialize;

use crate::spec::EngineTool;

/// A line of the engine's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineEvent {
    /// Which engine speaks.
    Version(EngineTool, String),
    /// A resource would change; `action` is the engine's word.
    Planned {
        /// The full address.
        address: String,
        /// `create`, `replace`, `move`, …
        action: String,
    },
    /// Work on a resource began.
    Started(Hook),
    /// Work on a resource goes on.
    Running(Hook),
    /// Work on a resource ended well.
    Completed(Hook),
    /// Work on a resource failed; a diagnostic follows.
    Errored(Hook),
    /// The engine's totals.
    Totals(Totals),
    /// A warning or an error.
    Diagnosed(Diagnostic),
    /// A line with nothing that Yuba reads; its message for the log.
    Said(String),
    /// A line that is not JSON.
    Text(String),
}

/// Which resource a step is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The full address.
    pub address: String,
    /// What is done: `create`, `delete`, … ; `refresh` while planning.
    pub action: String,
    /// How long it has taken so far, in seconds.
    pub elapsed_seconds: u64,
}

/// The engine's totals, of a plan or of an apply.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Totals {
    /// Added.
    #[serde(default)]
    pub add: u32,
    /// Changed in place.
    #[serde(default)]
    pub change: u32,
    /// Imported.
    #[serde(default)]
    pub import: u32,
    /// Destroyed.
    #[serde(default)]
    pub remove: u32,
    /// `plan`, `apply` or `destroy`.
    #[serde(default)]
    pub operation: String,
}

/// A warning or an error, with where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether it is an error; else it is a warning.
    pub is_error: bool,
    /// One line.
    pub summary: String,
    /// The rest; may be empty.
    pub detail: String,
    /// The resource it is about.
    pub address: Option<String>,
    /// `file:line`.
    pub location: Option<String>,
}

/// Reads a line. Total: what it does not know is kept as [`EngineEvent::Said`] or [`EngineEvent::Text`].
pub fn parse_line(line: &str) -> EngineEvent {
    let line = line.trim_end_matches(['\r', '\n']);
    match serde_json::from_str::<WireLine>(line) {
        Ok(wire) => wire.event(),
        Err(_) => EngineEvent::Text(line.to_owned()),
    }
}

/// How far an apply (or the refresh of a plan) is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// Steps done.
    pub done: u32,
    /// Steps in all, where it is known: see [`PlanCounts::steps`](super::summary::PlanCounts::steps).
    pub total: Option<u32>,
    /// What is being worked on, oldest first.
    pub current: Vec<Hook>,
}

impl Progress {
    /// Nothing is done of `total` steps.
    pub fn of(total: Option<u32>) -> Self {
        Self { total, ..Self::default() }
    }

    /// Follows an event.
    pub fn observe(&mut self, event: &EngineEvent) {
        match event {
            EngineEvent::Started(hook) => self.current.push(hook.clone()),
            EngineEvent::Running(hook) => {
                let known = self.current.iter_mut().find(|one| one.address == hook.address);
                if let Some(known) = known {
                    known.elapsed_seconds = hook.elapsed_seconds;
                }
            }
            EngineEvent::Completed(hook) | EngineEvent::Errored(hook) => {
                self.current.retain(|one| one.address != hook.address);
                self.done += u32::from(matches!(event, EngineEvent::Completed(_)));
            }
            _ => {}
        }
    }

    /// `3 of 10, aws_instance.a (create, 40s) and 2 more`.
    pub fn sentence(&self) -> String {
        let so_far = match self.total {
            Some(total) => format!("{} of {total}", self.done),
            None => format!("{} done", self.done),
        };
        let Some(first) = self.current.first() else { return so_far };
        let now = format!("{so_far}, {} ({}, {}s)", first.address, first.action, first.elapsed_seconds);
        match self.current.len() {
            1 => now,
            more => format!("{now} and {} more", more - 1),
        }
    }
}

#[derive(Deserialize)]
struct WireLine {
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(rename = "@message", default)]
    message: String,
    terraform: Option<String>,
    tofu: Option<String>,
    hook: Option<WireHook>,
    change: Option<WireHook>,
    changes: Option<Totals>,
    diagnostic: Option<WireDiagnostic>,
}

#[derive(Deserialize)]
struct WireHook {
    resource: Option<WireResource>,
    action: Option<String>,
    elapsed_seconds: Option<f64>,
}

#[derive(Deserialize)]
struct WireResource {
    #[serde(default)]
    addr: String,
}

#[derive(Deserialize)]
struct WireDiagnostic {
    #[serde(default)]
    severity: String,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    detail: String,
    address: Option<String>,
    range: Option<WireRange>,
}

#[derive(Deserialize)]
struct WireRange {
    filename: String,
    start: WirePosition,
}

#[derive(Deserialize)]
struct WirePosition {
    line: u32,
}

impl WireLine {
    fn event(self) -> EngineEvent {
        let Self { kind, message, .. } = self;
        let version = self.tofu.map(|version| EngineEvent::Version(EngineTool::Tofu, version));
        let version =
            version.or(self.terraform.map(|version| EngineEvent::Version(EngineTool::Terraform, version)));
        let hook = self.hook.map(WireHook::hook);
        let event = match kind.as_str() {
            "version" => version,
            "planned_change" => self.change.map(|change| {
                let Hook { address, action, .. } = change.hook();
                EngineEvent::Planned { address, action }
            }),
            "apply_start" | "refresh_start" => hook.map(EngineEvent::Started),
            "apply_progress" => hook.map(EngineEvent::Running),
            "apply_complete" | "refresh_complete" => hook.map(EngineEvent::Completed),
            "apply_errored" => hook.map(EngineEvent::Errored),
            "change_summary" => self.changes.map(EngineEvent::Totals),
            "diagnostic" => self.diagnostic.map(|wire| EngineEvent::Diagnosed(wire.diagnostic())),
            _ => None,
        };
        event.unwrap_or(EngineEvent::Said(message))
    }
}

impl WireHook {
    fn hook(self) -> Hook {
        let elapsed = self.elapsed_seconds.unwrap_or_default().clamp(0.0, 1e9);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped above")]
        let elapsed_seconds = elapsed as u64;
        Hook {
            address: self.resource.map(|resource| resource.addr).unwrap_or_default(),
            action: self.action.unwrap_or_else(|| "refresh".to_owned()),
            elapsed_seconds,
        }
    }
}

impl WireDiagnostic {
    fn diagnostic(self) -> Diagnostic {
        Diagnostic {
            is_error: self.severity == "error",
            summary: self.summary,
            detail: self.detail,
            address: self.address.filter(|address| !address.is_empty()),
            location: self.range.map(|range| format!("{}:{}", range.filename, range.start.line)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &str = r#"{"@message":"OpenTofu 1.9.0","tofu":"1.9.0","type":"version"}
{"@message":"a.b: Creating...","hook":{"resource":{"addr":"a.b"},"action":"create"},"type":"apply_start"}
plain text
{"@message":"a.c: Destroying...","hook":{"resource":{"addr":"a.c"},"action":"delete"},"type":"apply_start"}
{"@message":"…","hook":{"resource":{"addr":"a.b"},"action":"create","elapsed_seconds":10},"type":"apply_progress"}
{"@message":"…","hook":{"resource":{"addr":"a.c"},"action":"delete","elapsed_seconds":1},"type":"apply_complete"}
{"@message":"…","hook":{"resource":{"addr":"a.b"},"action":"create","elapsed_seconds":12.5},"type":"apply_errored"}"#;

    #[test]
    fn progress_follows_the_events() {
        let mut progress = Progress::of(Some(3));
        let mut said = Vec::new();
        for line in LINES.lines() {
            progress.observe(&parse_line(line));
            said.push(progress.sentence());
        }
        insta::assert_snapshot!(said.join("\n"), @"
        0 of 3
        0 of 3, a.b (create, 0s)
        0 of 3, a.b (create, 0s)
        0 of 3, a.b (create, 0s) and 1 more
        0 of 3, a.b (create, 10s) and 1 more
        1 of 3, a.b (create, 10s)
        1 of 3
        ");
    }

    #[test]
    fn a_diagnostic_names_file_and_line() {
        let line = r#"{"type":"diagnostic","diagnostic":{"severity":"error","summary":"S","detail":"D","address":"a.b",
            "range":{"filename":"main.tf","start":{"line":4,"column":1}}}}"#;
        let EngineEvent::Diagnosed(found) = parse_line(line) else { panic!("no diagnostic") };
        assert_eq!((found.is_error, found.location.as_deref()), (true, Some("main.tf:4")));
    }

    #[test]
    fn what_is_not_an_event_is_text() {
        for line in ["", "{", "[1]", "null", "Error: x", "{\"type\":3}"] {
            assert_eq!(parse_line(line), EngineEvent::Text(line.to_owned()));
        }
        assert_eq!(parse_line(r#"{"@message":"hi","type":"log"}"#), EngineEvent::Said("hi".to_owned()));
    }
}
