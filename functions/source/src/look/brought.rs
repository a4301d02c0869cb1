//! Who brought what a look found: authors, committers, and whoever the host says pushed.

use std::collections::{BTreeMap, BTreeSet};

use yuba_core::id::CommitId;
use yuba_core::people::Identity;
use yuba_core::source::{Brought, Observation};
use yuba_ports::PortError;
use yuba_ports::records::Versioned;

use super::fan_out::Look;
use super::observe::Verdict;
use super::stacks::StackThere;

/// Of how many observations it is kept who brought each.
const MOST: usize = 20;

/// Notes it in each new observation. Stacks that were last observed at one commit share one walk through history.
pub(super) async fn note(look: &Look<'_>, verdicts: &mut [(StackThere, Verdict)]) -> Result<(), PortError> {
    let mut known: BTreeMap<Option<CommitId>, BTreeSet<Identity>> = BTreeMap::new();
    for (stack, verdict) in verdicts {
        let Verdict::Observe(observation) = verdict else { continue };
        let before = stack.observation.as_ref().filter(|before| before.source == look.source.name);
        let since = before.map(|before| before.revision.commit.clone());
        if !known.contains_key(&since) {
            let mut people = look.fetched.people_since(since.as_ref()).await?;
            people.extend(look.pushers.iter().cloned());
            known.insert(since.clone(), people);
        }
        let by = known.get(&since).cloned().unwrap_or_default();
        observation.brought = with(before, Brought { observation: look.number, by });
    }
    Ok(())
}

/// What was noted before, and this. The oldest are counted as one, with the number of the newest of them.
fn with(before: Option<&Versioned<Observation>>, newest: Brought) -> Vec<Brought> {
    let mut all = before.map(|before| before.brought.clone()).unwrap_or_default();
    all.push(newest);
    while all.len() > MOST {
        let oldest = all.remove(0);
        if let Some(next) = all.first_mut() {
            next.by.extend(oldest.by);
        }
    }
    all
}
