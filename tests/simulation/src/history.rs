//! The history of a simulation, in words. Kept only when somebody wants to read it: formatting costs more than a step.

use std::fmt;

use yuba_core::time::Timestamp;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When, by the true clock.
    pub at: Timestamp,
    /// Who did it: a process, a person, the world.
    pub who: String,
    /// What.
    pub what: String,
}

impl fmt::Display for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = self.at.0.rem_euclid(1000);
        let at = self.at.to_string();
        let time = at.strip_prefix("2026-").unwrap_or(&at).trim_end_matches('Z');
        write!(formatter, "{time}.{millis:03}  {:<22}  {}", self.who, self.what)
    }
}

/// What happened, oldest first.
#[derive(Debug, Default)]
pub(crate) struct History {
    kept: bool,
    entries: Vec<Entry>,
}

impl History {
    /// A history that is kept, or one that is forgotten as it is made.
    pub(crate) fn new(keeping: Keeping) -> Self {
        Self { kept: keeping == Keeping::Everything, entries: Vec::new() }
    }

    /// Notes what happened.
    pub(crate) fn note(&mut self, at: Timestamp, who: &str, what: impl FnOnce() -> String) {
        if self.kept {
            self.entries.push(Entry { at, who: who.to_owned(), what: what() });
        }
    }

    /// All of it.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

/// Whether a history is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// It is.
    Everything,
    /// It is not.
    Nothing,
}
