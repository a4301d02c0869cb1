//! From a history that breaks an invariant to the shortest one that still does.

use crate::history::Keeping;
use crate::mutation::Mutation;
use crate::outcome::{Outcome, Turn};
use crate::simulation::simulate;

/// The shortest history that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shrunk {
    /// Its turns.
    pub turns: Vec<Turn>,
    /// What came of it, with its history.
    pub outcome: Outcome,
}

/// Leaves out turns, and faults within turns, as long as the same invariant is still broken; at most `most` tries.
pub fn shrink(seed: u64, mutation: Option<Mutation>, turns: Vec<Turn>, most: usize) -> Shrunk {
    let first = simulate(seed, mutation, &turns, Keeping::Nothing);
    let mut shrinking =
        Shrinking { seed, mutation, invariant: first.violation.map(|first| first.invariant), left: most };
    let mut turns: Vec<Turn> = turns.into_iter().take(first.turns).collect();
    let mut size = turns.len() / 2;
    while size > 0 && shrinking.left > 0 {
        turns = shrinking.without_pieces(turns, size);
        size /= 2;
    }
    turns = shrinking.calmer(turns);
    let outcome = simulate(seed, mutation, &turns, Keeping::Everything);
    Shrunk { turns, outcome }
}

struct Shrinking {
    seed: u64,
    mutation: Option<Mutation>,
    invariant: Option<u8>,
    left: usize,
}

impl Shrinking {
    /// How many turns of these it takes to break the same invariant.
    fn breaks(&mut self, turns: &[Turn]) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let outcome = simulate(self.seed, self.mutation, turns, Keeping::Nothing);
        let broken = outcome.violation.map(|violation| violation.invariant);
        (broken == self.invariant).then_some(outcome.turns)
    }

    fn without_pieces(&mut self, mut turns: Vec<Turn>, size: usize) -> Vec<Turn> {
        let mut end = turns.len();
        while end > 0 && self.left > 0 {
            let begin = end.saturating_sub(size);
            let fewer: Vec<Turn> = turns.iter().take(begin).chain(turns.iter().skip(end)).copied().collect();
            if let Some(needed) = self.breaks(&fewer) {
                turns = fewer;
                turns.truncate(needed);
            }
            end = begin.min(turns.len());
        }
        turns
    }

    fn calmer(&mut self, mut turns: Vec<Turn>) -> Vec<Turn> {
        for number in 0..turns.len() {
            let mut calmer = turns.clone();
            let Some(turn) = calmer.get_mut(number) else { break };
            turn.is_calm = true;
            if let Some(needed) = self.breaks(&calmer) {
                turns = calmer;
                turns.truncate(needed);
            }
        }
        turns
    }
}
