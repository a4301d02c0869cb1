//! What is carried over from the tree that was looked at last: for each stack its digest, and what was looked at for it.
//! A push then costs what it changed, not how many stacks are known. Like the rest of the index it only spares work.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use yuba_core::id::{ClosureDigest, StackName, TreeId};

use super::StackPaths;
use super::scan::Specials;
use super::watched::{ChangedPaths, Watched};
use crate::repository::{ReadError, Repository, object_id};
use crate::tree::{Trees, diff};

/// The closures of one tree, without their entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Carried {
    /// The tree; none before the first.
    pub(super) tree: Option<TreeId>,
    pub(super) stacks: BTreeMap<StackName, Kept>,
}

/// What is kept of one stack's closure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The settings that it was worked out for.
    pub(super) paths: StackPaths,
    /// The real directory; none where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) directory: Option<String>,
    pub(super) digest: ClosureDigest,
    pub(super) watched: Watched,
}

/// The real directories of stacks, by name.
pub(super) type Directories = BTreeMap<StackName, Option<String>>;

impl Carried {
    /// The real directories of all stacks, if they are those of this tree.
    pub(super) fn directories_at(&self, tree: &TreeId) -> Option<BTreeSet<String>> {
        let same = self.tree.as_ref() == Some(tree);
        same.then(|| self.stacks.values().filter_map(|kept| kept.directory.clone()).collect())
    }

    /// Forgets all stacks whose closure may differ at another tree or with other settings. `locate` says where a stack
    /// that is not kept lies now: what is another stack's directory is no part of a closure. Returns those directories.
    pub(super) fn retain(
        &mut self,
        stacks: &BTreeMap<StackName, StackPaths>,
        changed: Option<&ChangedPaths>,
        locate: impl Fn(&StackPaths) -> Result<Option<String>, ReadError>,
    ) -> Result<Directories, ReadError> {
        let before: BTreeSet<String> = self.directories();
        match changed {
            Some(changed) => self.stacks.retain(|name, kept| {
                stacks.get(name) == Some(&kept.paths) && !kept.watched.touched_by(changed)
            }),
            None => self.stacks.clear(),
        }
        let mut found = Directories::new();
        for (name, paths) in stacks.iter().filter(|(name, _)| !self.stacks.contains_key(*name)) {
            found.insert(name.clone(), locate(paths)?);
        }
        let mut now = self.directories();
        now.extend(found.values().flatten().cloned());
        let moved: ChangedPaths = before.symmetric_difference(&now).cloned().collect();
        self.stacks.retain(|name, kept| {
            let stays = !kept.watched.touched_by(&moved);
            if !stays {
                found.insert(name.clone(), kept.directory.clone());
            }
            stays
        });
        Ok(found)
    }

    /// The real directories of its stacks.
    pub(super) fn directories(&self) -> BTreeSet<String> {
        self.stacks.values().filter_map(|kept| kept.directory.clone()).collect()
    }
}

/// The paths that differ between two trees. None where that is not known, or where it matters to all stacks: links,
/// submodules and what is handed to LFS change what other paths mean.
pub(super) fn changed_paths(
    repository: &Repository,
    (old, new): (&TreeId, &TreeId),
    specials: &Specials,
) -> Option<ChangedPaths> {
    let (old, new) = (object_id(old.as_str()).ok()?, object_id(new.as_str()).ok()?);
    let care = specials.get(&new)?;
    if specials.get(&old)? != care {
        return None;
    }
    let mut paths = Vec::new();
    // Without the old tree, in a cache that was lost, nothing can be carried over.
    diff(&Trees::new(repository.reader()), Some(old), Some(new), &mut |path, _| paths.push(path.to_owned()))
        .ok()?;
    let changed: ChangedPaths = paths.into_iter().collect();
    let touched = care.iter().any(|special| changed.contains(&special.path));
    (!touched).then_some(changed)
}
