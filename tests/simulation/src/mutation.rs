//! Faults planted in the engine, one at a time, to see that an oracle catches each.

use yuba_ports::{Expected, Write};

use crate::world::State;

/// A planted fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mutation {
    /// Commits of the orchestrator expect nothing: who comes last wins.
    CommitUnconditionally,
    /// The runner does not check the plan file's digest.
    ApplyAnyFile,
}

impl Mutation {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::CommitUnconditionally];
}

impl State {
    /// The writes of a commit as a planted fault makes them.
    pub(crate) fn mutated(&self, writes: Vec<Write>) -> Vec<Write> {
        match self.mutation {
            Some(Mutation::CommitUnconditionally) if self.current.name.starts_with("orchestrator") => {
                writes.into_iter().map(unconditional).collect()
            }
            _ => writes,
        }
    }
}

fn unconditional(write: Write) -> Write {
    match write {
        Write::Put { key, body, indexes, .. } => Write::Put { key, body, indexes, expected: Expected::Any },
        other => other,
    }
}
