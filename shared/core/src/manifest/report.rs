//! Where the reader of one document lays what it finds.

use super::finding::{Finding, Severity, Spot};

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

    /// Whether the document must be held back.
    pub(super) fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}
