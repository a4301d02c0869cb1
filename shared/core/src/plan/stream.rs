//! What `plan -json` and `apply -json` say while they run: one JSON object a line.
//!
//! Anything else on the stream (a provider's print, a crash, a wrapper's line) is text, never an error.

use serde::Deserialize;

/// A line of the engine's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineLine {
    /// What it says, as far as Yuba reads it.
    pub event: EngineEvent,
    /// The text for the log.
    pub text: String,
}

/// One thing that the engine said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineEvent {
    /// Its version.
    Version(String),
    /// An error or warning.
    Diagnosed(Diagnostic),
    /// It began with a resource of this address: to read it while planning, to change it while applying.
    Started(String),
    /// It has read the resource of this address.
    Read(String),
    /// It is done with changing the resource of this address, for good or ill.
    Done(String),
    /// Anything else.
    Other,
}

/// A warning or an error, with where it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostic {
    /// Whether it is an error; else it is a warning.
    pub is_error: bool,
    /// One line.
    pub summary: String,
    /// The rest; may be empty.
    pub detail: String,
    /// Where in the code: `main.tf:3`; may be empty.
    pub place: String,
    /// The resource it is about; may be empty.
    pub address: String,
}

impl Diagnostic {
    /// `file:line: summary: first paragraph of the detail`, in one line.
    pub fn one_line(&self) -> String {
        let lines = self.detail.lines().map(str::trim).skip_while(|line| line.is_empty());
        let first: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
        let first = first.join(" ");
        let place = if self.place.is_empty() { &self.address } else { &self.place };
        let parts = [place.as_str(), self.summary.trim().trim_end_matches('.'), first.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(": ")
    }

    /// All of it, as people read it.
    pub fn text(&self) -> String {
        let kind = if self.is_error { "Error" } else { "Warning" };
        let mut text = format!("{kind}: {}\n", self.summary);
        for (word, found) in [("on", &self.place), ("with", &self.address)] {
            if !found.is_empty() {
                text = format!("{text}  {word} {found}\n");
            }
        }
        if self.detail.is_empty() { text } else { format!("{text}{}\n", self.detail) }
    }
}

/// Reads a line. Total: what it does not know is [`EngineEvent::Other`], what is no JSON is its own text.
pub fn parse_line(line: &str) -> EngineLine {
    let line = line.trim_end_matches(['\r', '\n']);
    match serde_json::from_str::<WireLine>(line) {
        Ok(wire) => wire.read(),
        Err(_) => EngineLine { event: EngineEvent::Other, text: line.to_owned() },
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
    diagnostic: Option<WireDiagnostic>,
}

#[derive(Deserialize)]
struct WireHook {
    resource: Option<WireResource>,
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
    #[serde(default)]
    address: String,
    range: Option<WireRange>,
}

#[derive(Deserialize)]
struct WireRange {
    filename: String,
    start: WirePosition,
}

#[derive(Deserialize)]
struct WirePosition {
    line: u64,
}

impl WireLine {
    fn read(self) -> EngineLine {
        let address = self.hook.and_then(|hook| hook.resource).map(|resource| resource.addr);
        let event = match self.kind.as_str() {
            "version" => self.tofu.or(self.terraform).map(EngineEvent::Version),
            "apply_start" | "refresh_start" => address.map(EngineEvent::Started),
            "refresh_complete" => address.map(EngineEvent::Read),
            "apply_complete" | "apply_errored" => address.map(EngineEvent::Done),
            "diagnostic" => self.diagnostic.map(|wire| EngineEvent::Diagnosed(wire.read())),
            _ => None,
        };
        let text = match &event {
            Some(EngineEvent::Diagnosed(diagnostic)) => diagnostic.text(),
            _ => self.message,
        };
        EngineLine { event: event.unwrap_or(EngineEvent::Other), text }
    }
}

impl WireDiagnostic {
    fn read(self) -> Diagnostic {
        let place = self.range.map(|range| format!("{}:{}", range.filename, range.start.line));
        Diagnostic {
            is_error: self.severity != "warning",
            summary: self.summary,
            detail: self.detail,
            place: place.unwrap_or_default(),
            address: self.address,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_stream_names_version_and_progress() {
        for (line, expected) in [
            (r#"{"type":"version","tofu":"1.9.0"}"#, EngineEvent::Version("1.9.0".to_owned())),
            (r#"{"type":"version","terraform":"1.11.4"}"#, EngineEvent::Version("1.11.4".to_owned())),
            (
                r#"{"type":"apply_start","hook":{"resource":{"addr":"a.b"},"action":"create"}}"#,
                EngineEvent::Started("a.b".to_owned()),
            ),
            (
                r#"{"type":"apply_errored","hook":{"resource":{"addr":"a.b"},"action":"create"}}"#,
                EngineEvent::Done("a.b".to_owned()),
            ),
        ] {
            assert_eq!(parse_line(line).event, expected);
        }
    }

    #[test]
    fn a_diagnostic_names_file_and_line() {
        let line = r#"{"type":"diagnostic","diagnostic":{"severity":"error","summary":"S","detail":"D","address":"a.b",
            "range":{"filename":"main.tf","start":{"line":4,"column":1}}}}"#;
        let EngineLine { event: EngineEvent::Diagnosed(found), text } = parse_line(line) else {
            panic!("no diagnostic")
        };
        assert_eq!((found.is_error, found.one_line().as_str()), (true, "main.tf:4: S: D"));
        assert_eq!(text, "Error: S\n  on main.tf:4\n  with a.b\nD\n");
    }

    #[test]
    fn what_is_not_an_event_is_text() {
        for line in ["", "{", "[1]", "null", "panic: runtime error", "{\"type\":3}"] {
            assert_eq!(parse_line(line), EngineLine { event: EngineEvent::Other, text: line.to_owned() });
        }
        let said = parse_line(r#"{"@message":"hi","type":"log"}"#);
        assert_eq!((said.event, said.text.as_str()), (EngineEvent::Other, "hi"));
    }

    /// What an engine wrote while real configurations were planned.
    #[test]
    fn recorded_plans_are_read() {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/generated-plans");
        let mut names: Vec<_> = fs::read_dir(&cases).unwrap().map(|case| case.unwrap().file_name()).collect();
        names.sort();
        let mut shown = Vec::new();
        for name in names.iter().filter(|name| cases.join(name).is_dir()) {
            let text = fs::read_to_string(cases.join(name).join("plan.ndjson")).unwrap();
            let lines: Vec<EngineLine> = text.lines().map(parse_line).collect();
            let count =
                |fits: fn(&EngineEvent) -> bool| lines.iter().filter(|line| fits(&line.event)).count();
            let started = count(|event| matches!(event, EngineEvent::Started(_)));
            assert_eq!(started, count(|event| matches!(event, EngineEvent::Read(_))), "{name:?}");
            assert_eq!(count(|event| *event == EngineEvent::Version("1.11.4".to_owned())), 1, "{name:?}");
            assert!(lines.iter().all(|line| !line.text.starts_with('{')), "{name:?}");
            let warnings = count(|event| matches!(event, EngineEvent::Diagnosed(found) if !found.is_error));
            let total = lines.iter().rev().find(|line| line.text.starts_with("Plan: "));
            let total = total.map_or("no totals", |line| line.text.as_str());
            shown.push(format!("{}: {started} read, {warnings} warnings, {total}", name.to_string_lossy()));
        }
        insta::assert_snapshot!(shown.join("\n"), @r"
        cbd_replace: 2 read, 0 warnings, Plan: 2 to add, 0 to change, 2 to destroy.
        checks_failing: 0 read, 2 warnings, Plan: 1 to add, 0 to change, 0 to destroy.
        destroy: 2 read, 0 warnings, Plan: 0 to add, 0 to change, 2 to destroy.
        import_noop_and_update: 1 read, 0 warnings, Plan: 1 to import, 0 to add, 1 to change, 0 to destroy.
        nested_modules: 0 read, 0 warnings, Plan: 3 to add, 0 to change, 0 to destroy.
        no_changes: 1 read, 0 warnings, Plan: 0 to add, 0 to change, 0 to destroy.
        output_only: 1 read, 0 warnings, Plan: 0 to add, 0 to change, 0 to destroy.
        removed_forget: 1 read, 1 warnings, Plan: 0 to add, 0 to change, 0 to destroy.
        ");
    }
}
