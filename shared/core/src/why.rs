//! Why a stack was planned, or why not: what is found in Git and in the records, and in words.

use std::fmt::{self, Write as _};

use crate::id::RunId;
use crate::source::Reason;

/// Why a stack was planned, or why not.
#[derive(Debug, Clone, PartialEq)]
pub enum Why {
    /// The newest run, and what it was made for.
    Run {
        /// The run.
        run: RunId,
        /// Its revision.
        revision: String,
        /// What it was made for.
        because: Vec<Reason>,
        /// What is odd in what Git holds for the stack now.
        notices: Vec<String>,
    },
    /// There is no run yet, for this reason.
    NoRun {
        /// Why.
        reason: String,
    },
    /// What a revision changed for the stack.
    Revision {
        /// The commit.
        commit: String,
        /// The first line of its message.
        subject: String,
        /// What of the stack's closure it changed; empty where nothing was.
        changed: Vec<Reason>,
        /// Paths that it changed and that are not part of the closure, the first of them.
        elsewhere: Vec<String>,
        /// How many such paths there are.
        elsewhere_count: usize,
        /// The newest run of that commit, if there is one.
        run: Option<RunId>,
        /// What is odd in the closure at that revision.
        notices: Vec<String>,
    },
}

impl Why {
    /// What is odd in the closure.
    pub fn notices(&self) -> &[String] {
        match self {
            Self::Run { notices, .. } | Self::Revision { notices, .. } => notices,
            Self::NoRun { .. } => &[],
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Run { run, revision, because, .. } => {
                writeln!(formatter, "run {run} of {revision} was made because:")?;
                because.iter().try_for_each(|reason| writeln!(formatter, "  {}", plain(reason)))?;
            }
            Self::NoRun { reason } => writeln!(formatter, "there is no run yet: {}", plain(reason))?,
            Self::Revision { commit, subject, changed, run, .. } => {
                writeln!(formatter, "commit {commit} ({})", plain(subject))?;
                let what = if changed.is_empty() {
                    "nothing that the stack depends on"
                } else {
                    "what the stack depends on:"
                };
                writeln!(formatter, "changed {what}")?;
                changed.iter().try_for_each(|reason| writeln!(formatter, "  {}", plain(reason)))?;
                self.elsewhere(formatter)?;
                match run {
                    Some(run) => writeln!(formatter, "run {run} planned it")?,
                    None => writeln!(formatter, "no run planned it")?,
                }
            }
        }
        self.notices().iter().try_for_each(|notice| writeln!(formatter, "notice: {}", plain(notice)))
    }
}

impl Why {
    fn elsewhere(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Revision { elsewhere, elsewhere_count, .. } = self else { return Ok(()) };
        let first = plain(elsewhere.join(", "));
        match elsewhere_count {
            0 => Ok(()),
            1 => writeln!(formatter, "1 path does not belong to the stack: {first}"),
            count => writeln!(formatter, "{count} paths do not belong to the stack: {first}"),
        }
    }
}

/// Text that others wrote, with control characters escaped: a terminal obeys them.
fn plain(text: impl fmt::Display) -> String {
    let mut shown = String::new();
    for letter in text.to_string().chars() {
        // Writing to a string cannot fail.
        let _ = if letter.is_control() {
            write!(shown, "{}", letter.escape_default())
        } else {
            shown.write_char(letter)
        };
    }
    shown
}
