//! Where the reader of one document lays what it finds.

use super::finding::{Finding, Severity, Spot};
use super::messages;

/// The findings of one document.
pub(super) struct Report<'file> {
    pub(super) file: &'file str,
    pub(super) findings: Vec<Finding>,
}

impl<'file> Report<'file> {
    /// Nothing found yet.
    pub(super) fn new(file: &'file str) -> Self {
        Self { file, findings: Vec::new() }
    }

    /// Lays down a finding.
    pub(super) fn say(&mut self, severity: Severity, spot: Spot, message: String) {
        self.findings.push(Finding { severity, place: spot.in_file(self.file), message });
    }

    /// The state of the stack is new, as its author says: that nobody names a backend is what they want.
    pub(super) fn state_is_new(&mut self) {
        for finding in &mut self.findings {
            if finding.message == messages::no_backend() {
                finding.severity = Severity::Notice;
            }
            if let Some(message) = messages::of_new_state(&finding.message) {
                finding.message = message;
            }
        }
    }

    /// Whether the document must be held back.
    pub(super) fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}
