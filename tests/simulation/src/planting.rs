//! Plants a fault in one world after the other until an oracle catches it.

use crate::history::Keeping;
use crate::mutation::Mutation;
use crate::oracle::Violation;
use crate::outcome::{Outcome, Turn};
use crate::simulation::{simulate, simulate_control, turns_of};

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
        let turns = turns_of(seed, turns);
        let outcome = simulate(seed, Some(mutation), &turns, Keeping::Nothing);
        steps += outcome.steps;
        // What is violated without the fault too was not caught.
        let is_clean = || simulate_control(seed, mutation, &turns).violation.is_none();
        let caught = outcome.violation.clone().or_else(|| differs(seed, mutation, &turns, &outcome));
        let caught = caught.filter(|_| is_clean());
        caught.map(|violation| Caught { seed, steps, violation })
    })
}

/// What violates nothing may still not be what the seed alone determines.
fn differs(seed: u64, mutation: Mutation, turns: &[Turn], once: &Outcome) -> Option<Violation> {
    let is_of_order = mutation == Mutation::NoFixedOrder;
    let again = is_of_order.then(|| simulate(seed, Some(mutation), turns, Keeping::Nothing))?;
    let what = "the same messages make other calls when they are handled again".to_owned();
    (again != *once).then_some(Violation { invariant: 0, what })
}
