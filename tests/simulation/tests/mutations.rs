//! Every planted fault is caught.

use yuba_simulation::{Keeping, MOST_WORLDS, Mutation, catch, simulate, turns_of};

/// How many turns each world has.
const TURNS: usize = 3_000;

#[test]
fn every_planted_fault_is_caught() {
    let is_caught = |mutation: &&Mutation| catch(**mutation, TURNS, MOST_WORLDS).is_some();
    let uncaught: Vec<&Mutation> = Mutation::ALL.iter().filter(|mutation| !is_caught(mutation)).collect();
    assert!(uncaught.is_empty(), "an oracle is missing: {uncaught:?}");
}

#[test]
fn a_seed_determines_everything() {
    let outcome = || simulate(7, None, &turns_of(7, 1_000), Keeping::Everything);
    assert_eq!(outcome(), outcome());
}
