//! What became of a message, for the log.

use std::fmt;

use yuba_core::id::{ManifestSetName, Revision, SourceName};
use yuba_core::time::Timestamp;

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// Nothing had to be done, for this reason.
    Nothing(String),
    /// A source had moved, or the settings of its stacks had.
    Looked {
        /// The source.
        source: SourceName,
        /// The number of the look.
        observation: u64,
        /// How many stacks were woken.
        woke: usize,
        /// How many stacks lie in it.
        of: usize,
    },
    /// A set of manifests had changed.
    TookOver {
        /// The set.
        set: ManifestSetName,
        /// The snapshot.
        snapshot: u64,
        /// How many stacks were woken.
        woke: usize,
        /// How many things were found wrong or worth knowing.
        findings: usize,
    },
    /// Code that was missing or damaged where it was stored lies there again.
    StoredAgain(Revision),
    /// The look failed; the record says so, and when it is tried again.
    Failed {
        /// Why, for people.
        why: String,
        /// When it is tried again.
        again: Timestamp,
    },
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing(why) => formatter.write_str(why),
            Self::Looked { observation, woke, of, .. } => {
                write!(formatter, "observation {observation}: woke {woke} of {of} stacks")?;
                if *woke == 0 {
                    formatter.write_str("; nothing that they depend on changed")?;
                }
                Ok(())
            }
            Self::TookOver { snapshot, woke, findings, .. } => {
                write!(formatter, "snapshot {snapshot}: woke {woke} stacks, {findings} findings")
            }
            Self::StoredAgain(revision) => write!(formatter, "stored the code of {revision} again"),
            Self::Failed { why, again } => write!(formatter, "{why}; tried again at {again}"),
        }
    }
}
