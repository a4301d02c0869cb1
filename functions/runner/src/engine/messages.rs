//! What an engine says: the JSON lines of `-json`, and the text of commands that have no such form.

use serde::Deserialize;
use yuba_core::spec::EngineTool;

use super::dialect::version_member;

/// One thing the engine said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message {
    /// Its version.
    Version(String),
    /// An error or warning.
    Diagnostic(Diagnostic),
    /// It began with a resource.
    Started(String),
    /// It is done with a resource, for good or ill.
    Done(String),
    /// Anything else.
    Other,
}

/// An error or warning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    /// Whether it is an error.
    pub(crate) is_error: bool,
    /// One line.
    pub(crate) summary: String,
    /// More; may be empty.
    pub(crate) detail: String,
    /// Where in the code: `main.tf:3`; may be empty.
    pub(crate) place: String,
    /// The resource it is about; may be empty.
    pub(crate) address: String,
}

impl Diagnostic {
    /// `file:line: summary: first paragraph of the detail`, in one line.
    pub(crate) fn one_line(&self) -> String {
        let lines = self.detail.lines().map(str::trim).skip_while(|line| line.is_empty());
        let first: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
        let first = first.join(" ");
        let place = if self.place.is_empty() { &self.address } else { &self.place };
        let parts = [place.as_str(), self.summary.trim().trim_end_matches('.'), first.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(": ")
    }

    /// All of it, as people read it.
    pub(crate) fn text(&self) -> String {
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

#[derive(Deserialize)]
struct Line {
    #[serde(default, rename = "@message")]
    message: String,
    #[serde(default, rename = "type")]
    kind: String,
    diagnostic: Option<RawDiagnostic>,
    hook: Option<Hook>,
    #[serde(default)]
    terraform: Option<String>,
    #[serde(default)]
    tofu: Option<String>,
}

#[derive(Deserialize)]
struct RawDiagnostic {
    #[serde(default)]
    severity: String,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    address: String,
    range: Option<Range>,
}

#[derive(Deserialize)]
struct Range {
    filename: String,
    start: Position,
}

#[derive(Deserialize)]
struct Position {
    line: u64,
}

#[derive(Deserialize)]
struct Hook {
    resource: Option<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    addr: String,
}

/// Reads a line of a JSON stream: what it says, and the text that goes to the log. A line that is not JSON (a crash
/// writes such) is text.
pub(crate) fn read_line(tool: EngineTool, text: &str) -> (Message, String) {
    let Ok(line) = serde_json::from_str::<Line>(text) else {
        return (Message::Other, text.to_owned());
    };
    let address = || line.hook.as_ref().and_then(|hook| hook.resource.as_ref()).map(|it| it.addr.clone());
    let message = match line.kind.as_str() {
        "version" => {
            let version = if version_member(tool) == "tofu" { line.tofu } else { line.terraform };
            version.map_or(Message::Other, Message::Version)
        }
        "diagnostic" => {
            let Some(diagnostic) = line.diagnostic.map(RawDiagnostic::read) else {
                return (Message::Other, line.message);
            };
            let shown = diagnostic.text();
            return (Message::Diagnostic(diagnostic), shown);
        }
        "apply_start" | "refresh_start" => address().map_or(Message::Other, Message::Started),
        "apply_complete" | "apply_errored" => address().map_or(Message::Other, Message::Done),
        _ => Message::Other,
    };
    (message, line.message)
}

impl RawDiagnostic {
    fn read(self) -> Diagnostic {
        Diagnostic {
            is_error: self.severity != "warning",
            summary: self.summary,
            detail: self.detail,
            place: self
                .range
                .map(|range| format!("{}:{}", range.filename, range.start.line))
                .unwrap_or_default(),
            address: self.address,
        }
    }
}

/// Reads the diagnostics of a command that writes text (`init`, `workspace`, `show`), boxed or not:
/// `Error: summary`, then perhaps `on main.tf line 3, in …:` with the code, then the detail.
pub(crate) fn read_text(text: &str) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    for line in text.lines() {
        let line = line.trim_start_matches(['│', '╷', '╵']).strip_prefix(' ').unwrap_or(line);
        let line = line.trim_start_matches(['│', '╷', '╵']);
        let trimmed = line.trim();
        let start = [("Error: ", true), ("Warning: ", false)]
            .into_iter()
            .find_map(|(word, is_error)| Some((trimmed.strip_prefix(word)?, is_error)));
        if let Some((summary, is_error)) = start {
            found.push(Diagnostic { is_error, summary: summary.to_owned(), ..Diagnostic::default() });
        } else if let Some(last) = found.last_mut() {
            add_line(last, line);
        }
    }
    for diagnostic in &mut found {
        diagnostic.detail = diagnostic.detail.trim().to_owned();
    }
    found
}

fn add_line(diagnostic: &mut Diagnostic, line: &str) {
    if let Some((file, number)) = place_in(line).filter(|_| diagnostic.place.is_empty()) {
        diagnostic.place = format!("{file}:{number}");
        return;
    }
    let is_code = line.trim_start().split_once(':').is_some_and(|(number, _)| {
        line.starts_with("  ") && !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit())
    });
    if !is_code {
        diagnostic.detail.push_str(line);
        diagnostic.detail.push('\n');
    }
}

/// `on main.tf line 3, in …` → (`main.tf`, `3`).
fn place_in(line: &str) -> Option<(&str, &str)> {
    let (file, rest) = line.trim_start().strip_prefix("on ")?.split_once(" line ")?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    Some((file, rest.get(..end).filter(|number| !number.is_empty())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOXED: &str = "\
╷
│ Error: Unsupported block type
│ 
│   on main.tf line 3, in resource \"toy_network\" \"a\":
│    3:   blok {
│ 
│ Blocks of type \"blok\" are not expected here.
╵
";

    #[test]
    fn text_diagnostics_are_read_boxed_or_not() {
        for text in [BOXED.to_owned(), BOXED.replace(['╷', '│', '╵'], "").replace("\n ", "\n")] {
            let found = read_text(&text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(
                found[0].one_line(),
                "main.tf:3: Unsupported block type: Blocks of type \"blok\" are not expected here."
            );
        }
    }

    #[test]
    fn a_line_that_is_no_json_is_text() {
        let (message, text) = read_line(EngineTool::Terraform, "panic: runtime error");
        assert_eq!((message, text.as_str()), (Message::Other, "panic: runtime error"));
    }

    #[test]
    fn the_stream_names_version_and_progress() {
        let version = r#"{"@message":"Terraform 1.11.4","type":"version","terraform":"1.11.4"}"#;
        assert_eq!(read_line(EngineTool::Terraform, version).0, Message::Version("1.11.4".to_owned()));
        let done = r#"{"@message":"a: done","type":"apply_complete","hook":{"resource":{"addr":"a.b"}}}"#;
        assert_eq!(read_line(EngineTool::Tofu, done).0, Message::Done("a.b".to_owned()));
    }
}
