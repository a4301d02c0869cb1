//! What lies anywhere below a tree that needs more care than its id: links, submodules, LFS. Worked out once per tree.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;
use serde::{Deserialize, Serialize};

use super::hcl::Dialect;
use crate::repository::ReadError;
use crate::tree::{Trees, blob, joined};

/// Something below a directory that needs care.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Special {
    /// Its path, relative to the directory.
    pub(super) path: String,
    pub(super) kind: SpecialKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum SpecialKind {
    Link,
    Submodule,
    /// A `.gitattributes` that hands files to LFS.
    LfsRules,
}

/// What is known of trees, by id.
pub(super) type Specials = HashMap<ObjectId, Arc<[Special]>>;

/// A configuration file to read: its blob, and how it is written.
pub(super) type ConfigFile = (ObjectId, Dialect);

/// Walks what is not known yet below a tree.
pub(super) struct Scan<'a> {
    pub(super) trees: &'a Trees,
    pub(super) specials: &'a mut Specials,
    /// Configuration files in what was walked.
    pub(super) configs: HashSet<ConfigFile>,
}

impl Scan<'_> {
    /// The specials of a tree; enters only trees that are not known.
    pub(super) fn tree(&mut self, id: ObjectId, depth: usize) -> Result<Arc<[Special]>, ReadError> {
        if let Some(known) = self.specials.get(&id) {
            return Ok(Arc::clone(known));
        }
        crate::tree::refuse_depth(id, depth)?;
        let mut found = Vec::new();
        for entry in self.trees.listing(id)?.iter() {
            let here = |kind| Special { path: entry.name.to_str_lossy().into_owned(), kind };
            match entry.mode.kind() {
                EntryKind::Tree => {
                    let below = self.tree(entry.id, depth + 1)?;
                    let name = entry.name.to_str_lossy();
                    found.extend(below.iter().map(|special| Special {
                        path: joined(&name, special.path.as_bytes()),
                        kind: special.kind,
                    }));
                }
                EntryKind::Link => found.push(here(SpecialKind::Link)),
                EntryKind::Commit => found.push(here(SpecialKind::Submodule)),
                EntryKind::Blob | EntryKind::BlobExecutable => {
                    self.configs.extend(Dialect::of(&entry.name).map(|dialect| (entry.id, dialect)));
                    let rules = entry.name == ".gitattributes" && hands_to_lfs(self.trees, entry.id)?;
                    found.extend(rules.then(|| here(SpecialKind::LfsRules)));
                }
            }
        }
        let found: Arc<[Special]> = found.into();
        self.specials.insert(id, Arc::clone(&found));
        Ok(found)
    }
}

fn hands_to_lfs(trees: &Trees, id: ObjectId) -> Result<bool, ReadError> {
    Ok(blob(trees.local(), id)?.contains_str("filter=lfs"))
}

/// Whether a blob is a pointer of Git LFS: <https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>.
pub(super) fn is_lfs_pointer(trees: &Trees, id: ObjectId) -> Result<bool, ReadError> {
    let header = trees.local().find_header(id).map_err(|error| ReadError::object(id, error))?;
    if header.size() > 1024 {
        return Ok(false);
    }
    Ok(blob(trees.local(), id)?.starts_with(b"version https://git-lfs.github.com/spec/v1"))
}
