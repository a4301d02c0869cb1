//! The digest of a closure, and which of its paths are covered by its directories.

use std::collections::{BTreeSet, HashMap};

use sha2::{Digest, Sha256};
use yuba_core::id::ClosureDigest;

use super::{Content, Entry};

/// Whether a path lies in, or is, one of some directories.
pub(super) fn is_below_any(path: &str, directories: &BTreeSet<String>) -> bool {
    !directories.is_empty()
        && (directories.contains(path)
            || path
                .match_indices('/')
                .any(|(end, _)| path.get(..end).is_some_and(|above| directories.contains(above))))
}

/// The directories among some entries, and what each leaves out.
pub(super) struct Covered<'a>(HashMap<&'a str, &'a BTreeSet<String>>);

impl<'a> Covered<'a> {
    pub(super) fn by(entries: &'a [Entry]) -> Self {
        let directories = entries.iter().filter_map(|entry| match &entry.content {
            Content::Directory { without, .. } => Some((entry.path.as_str(), without)),
            Content::File { .. } | Content::Missing => None,
        });
        Self(directories.collect())
    }

    /// Whether one of the directories above a path has it already.
    pub(super) fn has(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(end, _)| end).chain((!path.is_empty()).then_some(0));
        ends.filter_map(|end| self.0.get(path.get(..end)?)).any(|without| !is_below_any(path, without))
    }
}

/// The entries that no directory among them covers.
pub(super) fn uncovered(entries: &[Entry]) -> impl Iterator<Item = &Entry> {
    let covered = Covered::by(entries);
    entries.iter().filter(move |entry| !covered.has(&entry.path))
}

/// Equal digests, equal content: what a directory among the entries covers adds nothing to it.
pub(super) fn digest(entries: &[Entry]) -> ClosureDigest {
    let mut hasher = Sha256::new();
    for entry in uncovered(entries) {
        hasher.update(entry.path.as_bytes());
        match &entry.content {
            Content::File { id, mode } => {
                hasher.update(b"\0f");
                hasher.update(mode.to_be_bytes());
                hasher.update(id.as_slice());
            }
            Content::Directory { id, .. } => {
                hasher.update(b"\0d");
                hasher.update(id.as_slice());
            }
            Content::Missing => hasher.update(b"\0-"),
        }
    }
    ClosureDigest(hasher.finalize().into())
}
