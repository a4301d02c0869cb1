//! Chance: everything random in a simulation comes from here, and so from its seed.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Random choices that a number determines.
#[derive(Debug)]
pub(crate) struct Chance(ChaCha8Rng);

impl Chance {
    /// The choices of a seed.
    pub(crate) fn of(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Any number.
    pub(crate) fn word(&mut self) -> u64 {
        self.0.random()
    }

    /// A number below `bound`; 0 where that is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { self.0.random_range(0..bound) }
    }

    /// A number of a range, both ends included.
    pub(crate) fn between(&mut self, least: i64, most: i64) -> i64 {
        self.0.random_range(least..=most.max(least))
    }

    /// Yes, so many times of a thousand.
    pub(crate) fn permille(&mut self, times: u32) -> bool {
        self.0.random_range(0..1000) < times
    }

    /// One of some; `None` of none.
    pub(crate) fn one_of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }

    /// One of some, to be changed; `None` of none.
    pub(crate) fn one_of_mut<'a, T>(&mut self, all: &'a mut [T]) -> Option<&'a mut T> {
        let at = self.below(all.len());
        all.get_mut(at)
    }

    /// One of some by weight; `None` where all weigh nothing.
    pub(crate) fn weighted<T: Copy>(&mut self, all: &[(u32, T)]) -> Option<T> {
        let total: u32 = all.iter().map(|(weight, _)| weight).sum();
        if total == 0 {
            return None;
        }
        let mut at = self.0.random_range(0..total);
        for (weight, choice) in all {
            match at.checked_sub(*weight) {
                Some(left) => at = left,
                None => return Some(*choice),
            }
        }
        None
    }
}
