//! The history of a simulation, in words. Kept only when somebody wants to read it: formatting costs more than a step.

use std::fmt;

use yuba_core::time::Timestamp;

use crate::faults::Fault;
use crate::lane::Lane;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// When, by the true clock.
    pub at: Timestamp,
    /// Who did it: a process, a person, the world.
    pub who: String,
    /// What.
    pub what: String,
    /// How it is drawn.
    pub sign: Sign,
}

/// How a thing that happened is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sign {
    /// To whom it was done, or from whom it came.
    pub arrow: Option<Arrow>,
    /// Whether it should have happened.
    pub mark: Mark,
}

/// Which way a thing went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrow {
    /// From who did it.
    To(Lane),
    /// To who noted it.
    From(Lane),
}

/// Whether a thing should have happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mark {
    /// As it does.
    #[default]
    Plain,
    /// A fault of the world: Yuba must bear it.
    Fault,
    /// What must never happen.
    Violation,
}

impl Sign {
    /// Something that was done to somebody.
    pub(crate) fn to(lane: Lane) -> Self {
        Self { arrow: Some(Arrow::To(lane)), mark: Mark::Plain }
    }

    /// Something that came from somebody.
    pub(crate) fn from(lane: Lane) -> Self {
        Self { arrow: Some(Arrow::From(lane)), mark: Mark::Plain }
    }

    /// A fault.
    pub(crate) fn fault() -> Self {
        Self { arrow: None, mark: Mark::Fault }
    }

    /// The same, gone wrong or not.
    pub(crate) fn marked(self, mark: Mark) -> Self {
        Self { mark, ..self }
    }
}

impl Mark {
    /// The mark of something that may have gone wrong.
    pub(crate) fn of(fault: Option<Fault>) -> Self {
        if fault.is_some() { Self::Fault } else { Self::Plain }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}  {:<22}  {}", self.time(), self.who, self.what)
    }
}

impl Entry {
    /// When, without the year.
    pub(crate) fn time(&self) -> String {
        let millis = self.at.0.rem_euclid(1000);
        let at = self.at.to_string();
        let time = at.strip_prefix("2026-").unwrap_or(&at).trim_end_matches('Z');
        format!("{time}.{millis:03}")
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
    pub(crate) fn note(&mut self, at: Timestamp, who: &str, sign: Sign, what: impl FnOnce() -> String) {
        if self.kept {
            self.entries.push(Entry { at, who: who.to_owned(), what: what(), sign });
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
