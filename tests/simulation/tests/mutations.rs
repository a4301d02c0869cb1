//! Every planted fault is caught.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use yuba_simulation::{Keeping, MOST_WORLDS, Mutation, catch, simulate, turns_of};

/// How many turns each world has.
const TURNS: usize = 3_000;

#[test]
fn every_planted_fault_is_caught() {
    let (next, uncaught) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(mutation) = Mutation::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
            if catch(*mutation, TURNS, MOST_WORLDS).is_none() {
                uncaught.lock().unwrap().push(mutation);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(work);
        }
    });
    let uncaught = uncaught.into_inner().unwrap();
    assert!(uncaught.is_empty(), "an oracle is missing: {uncaught:?}");
}

#[test]
fn a_seed_determines_everything() {
    let outcome = || simulate(7, None, &turns_of(7, 1_000), Keeping::Everything);
    assert_eq!(outcome(), outcome());
}
