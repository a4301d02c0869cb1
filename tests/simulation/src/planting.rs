//! Plants a fault in one world after the other until an oracle catches it.

use crate::history::Keeping;
use crate::mutation::Mutation;
use crate::oracle::Violation;
use crate::simulation::{simulate, turns_of};

/// How many worlds a planted fault may take to be caught.
pub const MOST_WORLDS: u64 = 60;

/// A planted fault that was caught.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caught {
    /// In which world.
    pub seed: u64,
    /// After how many steps in all worlds.
    pub steps: u64,
    /// By what.
    pub violation: Violation,
}

/// Plants a fault in one world after the other until an oracle catches it.
pub fn catch(mutation: Mutation, turns: usize, most_worlds: u64) -> Option<Caught> {
    let mut steps = 0;
    (1..=most_worlds).find_map(|seed| {
        let outcome = simulate(seed, Some(mutation), &turns_of(seed, turns), Keeping::Nothing);
        steps += outcome.steps;
        // What is violated without the fault too was not caught.
        let is_clean = || {
            let control = Some(Mutation::Nothing);
            simulate(seed, control, &turns_of(seed, turns), Keeping::Nothing).violation.is_none()
        };
        let caught = outcome.violation.filter(|_| is_clean());
        caught.map(|violation| Caught { seed, steps, violation })
    })
}
