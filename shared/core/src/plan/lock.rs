//! A state lock that the engine ran into, read from its diagnostic. Both engines write the same block of text.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::stream::Diagnostic;
use crate::time::Timestamp;

/// Who holds a state's lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateLock {
    /// What `force-unlock` takes.
    pub id: String,
    /// The state's place, as its backend writes it.
    pub path: String,
    /// `OperationTypeApply`, `OperationTypePlan`, …
    pub operation: String,
    /// `user@host`.
    pub who: String,
    /// The engine's version.
    pub version: String,
    /// Since when; none where the backend does not say, or says it in a form of its own.
    pub created: Option<Timestamp>,
}

impl StateLock {
    /// The lock that an error diagnostic tells of, if it tells of one.
    pub fn from_diagnostic(diagnostic: &Diagnostic) -> Option<Self> {
        let (_, block) = diagnostic.detail.split_once("Lock Info:")?;
        let field = |name: &str| {
            let value = block.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'));
            value.map(|value| value.trim().to_owned()).unwrap_or_default()
        };
        let lock = Self {
            id: field("ID"),
            path: field("Path"),
            operation: field("Operation"),
            who: field("Who"),
            version: field("Version"),
            created: go_time(&field("Created")),
        };
        (!lock.id.is_empty()).then_some(lock)
    }

    /// `lock 99819b0e-… on terraform.tfstate, held by ann@laptop (OperationTypeApply) for 5m`.
    pub fn sentence(&self, now: Timestamp) -> String {
        let age = self.created.map(|created| format!(" for {}", now.since(created).to_age()));
        format!("{self}{}", age.unwrap_or_default())
    }
}

impl fmt::Display for StateLock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "lock {} on {}, held by {} ({})", self.id, self.path, self.who, self.operation)
    }
}

/// A time as Go prints it: `2026-11-30 09:22:46.769840214 +0000 UTC`, maybe with a monotonic part after it.
fn go_time(text: &str) -> Option<Timestamp> {
    let plain: Vec<&str> = text.split_whitespace().take(3).collect();
    let parsed = jiff::fmt::strtime::parse("%Y-%m-%d %H:%M:%S%.f %z", plain.join(" ")).ok()?;
    Some(Timestamp(parsed.to_timestamp().ok()?.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DETAIL: &str = "Error message: resource temporarily unavailable\nLock Info:\n  ID:        99819b0e-4c49\n  \
        Path:      terraform.tfstate\n  Operation: OperationTypeApply\n  Who:       ann@laptop\n  Version:   1.11.4\n  \
        Created:   2026-11-30 09:22:46.769840214 +0000 UTC\n  Info:      \n\n\nTerraform acquires a state lock";

    fn diagnostic(detail: &str) -> Diagnostic {
        let summary = "Error acquiring the state lock".to_owned();
        Diagnostic { is_error: true, summary, detail: detail.to_owned(), address: None, location: None }
    }

    #[test]
    fn the_holder_is_read_from_the_diagnostic() {
        let lock = StateLock::from_diagnostic(&diagnostic(DETAIL)).unwrap();
        let now = Timestamp(lock.created.unwrap().0 + 300_000);
        insta::assert_snapshot!(lock.sentence(now), @"lock 99819b0e-4c49 on terraform.tfstate, held by ann@laptop (OperationTypeApply) for 5m");
    }

    #[test]
    fn other_errors_tell_of_no_lock() {
        for detail in ["", "Lock Info:", "Lock Info:\n Path: x\n"] {
            assert_eq!(StateLock::from_diagnostic(&diagnostic(detail)), None);
        }
    }

    #[test]
    fn a_time_without_fraction_or_of_another_form_does_no_harm() {
        assert!(go_time("2026-11-30 09:22:46 +0000 UTC").is_some());
        assert!(go_time("2026-11-30 09:22:46.7 +0100 CET m=+0.1").is_some());
        assert_eq!(go_time("yesterday"), None);
    }
}
