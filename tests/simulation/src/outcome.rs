//! What goes into a simulation, and what comes out.

use std::collections::BTreeMap;

use crate::history::Entry;
use crate::oracle::Violation;

/// A turn: a number, and whether anything may go wrong in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Determines the turn.
    pub word: u64,
    /// Nothing goes wrong, and nobody acts.
    pub is_calm: bool,
}

/// What a simulation came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How many steps there were: calls of ports, answers, acts of people.
    pub steps: u64,
    /// How many runs were made.
    pub runs: u64,
    /// How they ended, by kind and state.
    pub states: BTreeMap<String, u64>,
    /// How many faults happened.
    pub faults: u64,
    /// What should not have happened.
    pub violation: Option<Violation>,
    /// How many turns it took until then.
    pub turns: usize,
    /// What happened, if it was kept.
    pub history: Vec<Entry>,
}
