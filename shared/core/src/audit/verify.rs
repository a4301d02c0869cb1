//! Checks a trail: that no entry was changed, removed or moved. It needs nothing but the trail itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::anchor::AuditAnchor;
use super::canonical::{Kind, hash_of};
use super::entry::AuditHead;
use crate::id::{AuditChain, AuditHash};

/// One line of an export: `{"entry": {…}}`. All anchors come first, then all heads, then the entries of each chain in order:
/// so what was written down while others read it is in the entries at least, and a file that was cut lacks entries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditLine {
    /// An anchor, as it lies in the store.
    Anchor(Value),
    /// The last entry of a chain, as the stack's own record names it.
    Head(AuditHead),
    /// An entry, as it lies in the store.
    Entry(Value),
}

/// What is wrong with a trail, first of all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// It lacks what an entry has.
    #[error("after entry {after} of chain {chain} comes something that is no entry: {why}")]
    NoEntry {
        /// The chain of the last entry before; `none` before the first.
        chain: String,
        /// That entry's number.
        after: u64,
        /// What it lacks.
        why: String,
    },
    /// Another number stands where this one belongs.
    #[error("entry {number} of chain {chain} is not in its place: entry {found} is there")]
    OutOfPlace {
        /// The chain.
        chain: AuditChain,
        /// The number that belongs there.
        number: u64,
        /// The number that is there.
        found: u64,
    },
    /// Its content has another hash.
    #[error("entry {number} of chain {chain} was changed: its content has another hash than it says")]
    Changed {
        /// The chain.
        chain: AuditChain,
        /// The entry.
        number: u64,
    },
    /// It does not hold the hash of the one before.
    #[error("entry {number} of chain {chain} does not follow the one before it: one of the two was replaced")]
    DoesNotFollow {
        /// The chain.
        chain: AuditChain,
        /// The entry.
        number: u64,
    },
    /// The trail ends before it.
    #[error("entry {number} of chain {chain} is missing: {witness} names entry {named}")]
    Missing {
        /// The chain.
        chain: AuditChain,
        /// The first entry that is missing.
        number: u64,
        /// An entry that there was.
        named: u64,
        /// Who says so.
        witness: String,
    },
    /// Somebody knows another hash of it.
    #[error("entry {number} of chain {chain} was replaced: {witness} names another hash")]
    Replaced {
        /// The chain.
        chain: AuditChain,
        /// The entry.
        number: u64,
        /// Who does.
        witness: String,
    },
    /// An anchor is not what it was, or not where it belongs.
    #[error("anchor {number} {why}")]
    Anchor {
        /// The number that belongs there.
        number: u64,
        /// What is wrong with it.
        why: String,
    },
}

/// What was found right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// How many entries.
    pub entries: usize,
    /// Of how many chains.
    pub chains: usize,
    /// The hashes of all anchors, the first one first.
    pub anchors: Vec<AuditHash>,
}

/// Reads a trail line by line.
#[derive(Debug, Default)]
pub struct Verifier {
    chains: BTreeMap<AuditChain, Vec<AuditHash>>,
    last: Option<AuditChain>,
    heads: Vec<AuditHead>,
    anchors: Vec<AuditAnchor>,
}

/// What every entry has, whatever else later versions add.
#[derive(Deserialize)]
struct Frame {
    chain: AuditChain,
    number: u64,
    previous: AuditHash,
    hash: AuditHash,
}

impl Verifier {
    /// Takes the next line. What is wrong with an entry is said at once, so it is the first that is.
    pub fn take(&mut self, line: AuditLine) -> Result<(), Broken> {
        match line {
            AuditLine::Entry(body) => self.take_entry(&body),
            AuditLine::Anchor(body) => self.take_anchor(body),
            AuditLine::Head(head) => {
                self.heads.push(head);
                Ok(())
            }
        }
    }

    /// Whether all that heads and anchors name is there.
    pub fn finish(self) -> Result<Verified, Broken> {
        for anchor in &self.anchors {
            let witness = format!("anchor {} of {}", anchor.number, anchor.at);
            anchor.heads.iter().try_for_each(|head| self.witnessed(head, &witness))?;
        }
        self.heads.iter().try_for_each(|head| self.witnessed(head, "its own record"))?;
        Ok(Verified {
            entries: self.chains.values().map(Vec::len).sum(),
            chains: self.chains.len(),
            anchors: self.anchors.iter().map(|anchor| anchor.hash).collect(),
        })
    }

    fn take_entry(&mut self, body: &Value) -> Result<(), Broken> {
        let frame = Frame::deserialize(body).map_err(|error| self.no_entry(&error))?;
        let Frame { chain, number: found, previous, hash } = frame;
        let before = self.chains.entry(chain).or_default();
        let number = next(before.len());
        if found != number {
            return Err(Broken::OutOfPlace { chain, number, found });
        }
        if hash_of(Kind::Entry, body) != hash {
            return Err(Broken::Changed { chain, number });
        }
        if before.last().copied().unwrap_or(AuditHash::NONE) != previous {
            return Err(Broken::DoesNotFollow { chain, number });
        }
        before.push(hash);
        self.last = Some(chain);
        Ok(())
    }

    fn no_entry(&self, error: &serde_json::Error) -> Broken {
        let chain = self.last.map_or_else(|| "none".to_owned(), |chain| chain.to_string());
        let after =
            self.last.and_then(|chain| self.chains.get(&chain)).map_or(0, |seen| next(seen.len()) - 1);
        Broken::NoEntry { chain, after, why: error.to_string() }
    }

    fn take_anchor(&mut self, body: Value) -> Result<(), Broken> {
        let number = next(self.anchors.len());
        let wrong = |why: String| Broken::Anchor { number, why };
        let hash = hash_of(Kind::Anchor, &body);
        let anchor: AuditAnchor =
            serde_json::from_value(body).map_err(|error| wrong(format!("cannot be read: {error}")))?;
        if anchor.number != number {
            return Err(wrong(format!("is not in its place: anchor {} is there", anchor.number)));
        }
        if anchor.hash != hash {
            return Err(wrong("was changed: its content has another hash than it says".to_owned()));
        }
        if self.anchors.last().map_or(AuditHash::NONE, |before| before.hash) != anchor.previous {
            return Err(wrong("does not follow the one before it: one of the two was replaced".to_owned()));
        }
        self.anchors.push(anchor);
        Ok(())
    }

    fn witnessed(&self, head: &AuditHead, witness: &str) -> Result<(), Broken> {
        let (chain, witness) = (head.chain, witness.to_owned());
        let seen = self.chains.get(&chain).map_or(&[][..], Vec::as_slice);
        let hash = usize::try_from(head.number).ok().and_then(|number| seen.get(number.checked_sub(1)?));
        match hash {
            None => Err(Broken::Missing { chain, number: next(seen.len()), named: head.number, witness }),
            Some(hash) if *hash != head.hash => Err(Broken::Replaced { chain, number: head.number, witness }),
            Some(_) => Ok(()),
        }
    }
}

/// The number after so many.
fn next(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX).saturating_add(1)
}
