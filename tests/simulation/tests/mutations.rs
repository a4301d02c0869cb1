//! Every planted fault is caught.

use yuba_simulation::{Keeping, Mutation, simulate, turns_of};

/// How many worlds a planted fault may take to be caught.
const WORLDS: u64 = 40;
/// How many turns each has.
const TURNS: usize = 3_000;

#[test]
fn every_planted_fault_is_caught() {
    for mutation in Mutation::ALL {
        let caught = (1..=WORLDS).any(|seed| {
            simulate(seed, Some(mutation), &turns_of(seed, TURNS), Keeping::Nothing).violation.is_some()
        });
        assert!(caught, "{mutation:?} was not caught within {WORLDS} worlds: an oracle is missing");
    }
}

#[test]
fn a_seed_determines_everything() {
    let outcome = || simulate(7, None, &turns_of(7, 1_000), Keeping::Everything);
    assert_eq!(outcome(), outcome());
}
