//! What people approve: one digest over everything that makes a plan do what it does.
//!
//! **In:** each resource change that does anything (address, previous address, deposed key, provider, action, import
//! id, values before and after with the sensitive ones, what is unknown, what is sensitive), each output change, each
//! invoked action; the inputs; the providers' locked versions; the state's lineage.
//!
//! **Out, and why:** the timestamp and the plan file's bytes (they differ between two plans of the same content); the
//! order of entries and keys (engines do not promise one); `prior_state`, `planned_values`, `configuration` (the
//! changes say what comes of them; a comment must not void an approval); drift (it is in `before` where it matters);
//! checks, reasons and replace paths (they explain); the engine's version (a run finishes on the engine it began
//! with, and what a newer one does differently shows in the changes); paths of the working directory.
//!
//! Numbers enter by their text, so nothing is rounded to equality. Secrets enter, hashed together with all else.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::id::{ChangesDigest, ContentDigest, InputsDigest};

/// What a content digest covers besides the changes; none of it stands in the plan JSON.
#[derive(Debug, Clone, Copy)]
pub struct DigestContext<'a> {
    /// The resolved inputs of the run.
    pub inputs: &'a InputsDigest,
    /// Providers by source address, with the version that the lock file pins.
    pub providers: &'a BTreeMap<String, Option<String>>,
    /// The state's lineage, from the plan file; empty for a new state.
    pub lineage: &'a str,
}

/// The digest that an approval is for.
pub fn content_digest(changes: &ChangesDigest, context: &DigestContext<'_>) -> ContentDigest {
    let mut hasher = Sha256::new();
    part(&mut hasher, b"yuba content 1");
    part(&mut hasher, &changes.0);
    part(&mut hasher, &context.inputs.0);
    part(&mut hasher, context.lineage.as_bytes());
    for (provider, version) in context.providers {
        part(&mut hasher, provider.as_bytes());
        part(&mut hasher, version.as_deref().unwrap_or_default().as_bytes());
    }
    ContentDigest(hasher.finalize().into())
}

/// Adds a part with its length, so that two parts never read like one.
fn part(hasher: &mut Sha256, bytes: &[u8]) {
    hasher.update((bytes.len() as u64).to_be_bytes());
    hasher.update(bytes);
}

/// A digest over a multiset of texts: the order in which they are added does not matter. 32 bytes are held for each.
#[derive(Debug, Default)]
pub(crate) struct MultisetDigest(Vec<[u8; 32]>);

impl MultisetDigest {
    /// Adds the text of one entry; `section` keeps entries of different kinds apart.
    pub(crate) fn add(&mut self, section: &str, text: &str) {
        let mut hasher = Sha256::new();
        part(&mut hasher, section.as_bytes());
        part(&mut hasher, text.as_bytes());
        self.0.push(hasher.finalize().into());
    }

    /// The digest of all that was added.
    pub(crate) fn finish(mut self) -> [u8; 32] {
        self.0.sort_unstable();
        Sha256::digest(self.0.concat()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_of_the_context_changes_the_digest() {
        let changes = ChangesDigest::of(b"changes");
        let (one, two) = (InputsDigest::of(b"1"), InputsDigest::of(b"2"));
        let aws = |version: &str| BTreeMap::from([("aws".to_owned(), Some(version.to_owned()))]);
        let (old, new) = (aws("5.0.0"), aws("5.0.1"));
        let base = DigestContext { inputs: &one, providers: &old, lineage: "l" };
        let others = [
            DigestContext { inputs: &two, ..base },
            DigestContext { providers: &new, ..base },
            DigestContext { lineage: "", ..base },
        ];
        for other in others {
            assert_ne!(content_digest(&changes, &base), content_digest(&changes, &other));
        }
    }

    #[test]
    fn a_multiset_has_no_order_but_counts_repetitions() {
        let digest = |texts: &[&str]| {
            let mut all = MultisetDigest::default();
            for text in texts {
                all.add("s", text);
            }
            all.finish()
        };
        assert_eq!(digest(&["a", "b"]), digest(&["b", "a"]));
        assert_ne!(digest(&["a"]), digest(&["a", "a"]));
    }
}
