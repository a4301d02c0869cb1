//! A cloud and its state backends. It watches who acts: two attempts at once, or one that may not, is a violation.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use yuba_core::id::{AttemptId, ContentDigest, FileDigest};

/// Values by address.
pub(crate) type Resources = BTreeMap<String, String>;

/// All states and what they manage, by the state's address.
#[derive(Debug, Default)]
pub(crate) struct Cloud {
    pub(crate) places: BTreeMap<String, Place>,
    /// Who acts, where.
    acting: BTreeMap<String, BTreeSet<(AttemptId, u64)>>,
}

/// One state, and the reality it manages.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    pub(crate) lineage: String,
    pub(crate) serial: u64,
    pub(crate) state: Resources,
    pub(crate) real: Resources,
    pub(crate) lock: Option<Lock>,
}

/// A lock in a backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Lock {
    pub(crate) id: String,
    pub(crate) attempt: AttemptId,
    pub(crate) process: u64,
}

/// What a plan file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlanFile {
    pub(crate) place: String,
    pub(crate) lineage: String,
    pub(crate) serial: u64,
    /// Tells two plans of one content apart, as their bytes differ.
    pub(crate) nonce: u64,
    pub(crate) inputs: String,
    pub(crate) changes: Vec<Change>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Change {
    pub(crate) address: String,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
}

impl PlanFile {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(crate) fn file_digest(bytes: &[u8]) -> FileDigest {
        FileDigest(Sha256::digest(bytes).into())
    }

    pub(crate) fn content(&self) -> ContentDigest {
        let content = serde_json::json!([self.changes, self.inputs, self.lineage]);
        ContentDigest(Sha256::digest(content.to_string()).into())
    }
}

/// What must change for reality to be as it is wanted.
pub(crate) fn difference(real: &Resources, wanted: &Resources) -> Vec<Change> {
    let addresses: BTreeSet<&String> = real.keys().chain(wanted.keys()).collect();
    let change = |address: &String| {
        let (before, after) = (real.get(address).cloned(), wanted.get(address).cloned());
        (before != after).then(|| Change { address: address.clone(), before, after })
    };
    addresses.into_iter().filter_map(change).collect()
}

impl Cloud {
    /// The state at an address; a new one is empty.
    pub(crate) fn place(&mut self, address: &str) -> &mut Place {
        self.places.entry(address.to_owned()).or_default()
    }

    /// An attempt begins to change something. Names another that does so too, if one lives.
    pub(crate) fn begin(
        &mut self,
        address: &str,
        who: (AttemptId, u64),
        alive: &BTreeSet<u64>,
    ) -> Option<AttemptId> {
        let acting = self.acting.entry(address.to_owned()).or_default();
        acting.retain(|(_, process)| alive.contains(process));
        let other = acting.iter().find(|other| **other != who).map(|(attempt, _)| *attempt);
        acting.insert(who);
        other
    }

    /// An attempt changes nothing any more.
    pub(crate) fn end(&mut self, address: &str, who: (AttemptId, u64)) {
        if let Some(acting) = self.acting.get_mut(address) {
            acting.remove(&who);
        }
    }
}

impl Place {
    /// Takes the lock, or says who holds it.
    pub(crate) fn take_lock(&mut self, id: String, attempt: AttemptId, process: u64) -> Result<(), Lock> {
        if let Some(held) = &self.lock {
            return Err(held.clone());
        }
        self.lock = Some(Lock { id, attempt, process });
        Ok(())
    }

    /// Makes one change in reality.
    pub(crate) fn change(&mut self, change: &Change) {
        match &change.after {
            Some(after) => self.real.insert(change.address.clone(), after.clone()),
            None => self.real.remove(&change.address),
        };
    }

    /// Saves the state as it has become.
    pub(crate) fn save(&mut self, state: Resources) {
        self.serial += 1;
        self.state = state;
    }
}
