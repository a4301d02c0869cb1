//! What reading manifests has to say to people: where, how grave, and what.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A point in a manifest file. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The file, as its reader named it.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The document is held back, and whatever refers to it.
    Error,
    /// It is used, and will probably not do what its author wants.
    Warning,
    /// Something that its author should know.
    Notice,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
        })
    }
}

/// One thing that reading a set of manifests found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How grave it is.
    pub severity: Severity,
    /// Where.
    pub place: Place,
    /// What, without the place.
    pub message: String,
}

impl fmt::Display for Finding {
    /// As compilers write it, so that editors find the place: `stacks.yaml:12:3: error: …`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}: {}", self.place, self.severity, self.message)
    }
}

/// A point in the file that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spot {
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Spot {
    /// The first character of a file.
    pub(super) const START: Self = Self { line: 1, column: 1 };

    /// The spot in a file of that name.
    pub(super) fn in_file(self, file: &str) -> Place {
        Place { file: file.to_owned(), line: self.line, column: self.column }
    }
}

/// Findings for people: one line each, then how many there are of each severity.
pub fn render(findings: &[Finding]) -> String {
    let mut lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    lines.push(summary(findings));
    lines.join("\n") + "\n"
}

/// `2 errors, 1 warning, no notices`.
fn summary(findings: &[Finding]) -> String {
    let count = |severity: Severity| {
        let count = findings.iter().filter(|finding| finding.severity == severity).count();
        match count {
            0 => format!("no {severity}s"),
            1 => format!("1 {severity}"),
            more => format!("{more} {severity}s"),
        }
    };
    [Severity::Error, Severity::Warning, Severity::Notice].map(count).join(", ")
}
