//! What lies in a repository without checking it out: the last commits, changed paths between two trees, files by
//! name. For `yuba try` and `yuba why`. Nothing is written, no lock is taken.

use std::collections::BTreeSet;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;
use yuba_core::id::{CommitId, TreeId};

use crate::repository::{Commit, Person, ReadError, Repository, object_id, read_commit};

/// How a path differs between two trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Change {
    /// It is new.
    Added,
    /// Its content, mode or kind is another.
    Modified,
    /// It is gone.
    Deleted,
    /// It was there, and belongs to the stack only now. Never between two trees.
    Reached,
    /// It is still there, and belongs to the stack no more. Never between two trees.
    LeftBehind,
}

impl std::fmt::Display for Change {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Added => "added",
            Self::Modified => "modified",
            Self::Deleted => "deleted",
            Self::Reached => "is reached now",
            Self::LeftBehind => "is reached no more",
        })
    }
}

/// A path that differs between two trees.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PathChange {
    /// The path, relative to the trees' root.
    pub path: String,
    /// How it differs.
    pub change: Change,
}

/// A file in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// Its path, relative to the repository's root.
    pub path: String,
    /// Its blob.
    pub id: ObjectId,
}

impl Repository {
    /// The last `count` commits up to `from`, newest first, following first parents only. Where the history was cut
    /// (a shallow clone), the list ends there.
    pub fn last_commits(&self, from: &CommitId, count: usize) -> Result<Vec<Commit>, ReadError> {
        let local = self.reader();
        let mut commits: Vec<Commit> = Vec::new();
        let mut next = Some(from.clone());
        while let Some(id) = next.take().filter(|_| commits.len() < count) {
            let id = object_id(id.as_str())?;
            if !commits.is_empty() && !local.has_object(id) {
                break;
            }
            let commit = read_commit(&local, id)?;
            next = commit.parents.first().cloned();
            commits.push(commit);
        }
        Ok(commits)
    }

    /// Every author and committer of the commits that `new` has and `old` has not, however they were merged.
    pub fn people_between(&self, old: &CommitId, new: &CommitId) -> Result<BTreeSet<Person>, ReadError> {
        let local = self.reader();
        let (old, new) = (object_id(old.as_str())?, object_id(new.as_str())?);
        let walk =
            local.rev_walk([new]).with_hidden([old]).all().map_err(|error| ReadError::object(new, error))?;
        let mut people = BTreeSet::new();
        for info in walk {
            let info = info.map_err(|error| ReadError::object(new, error))?;
            let commit = read_commit(&local, info.id)?;
            people.extend(commit.authors);
            people.insert(commit.committer);
        }
        Ok(people)
    }

    /// The files that differ between two trees, by path. Renames are a deletion and an addition.
    pub fn changed_paths(&self, old: &TreeId, new: &TreeId) -> Result<Vec<PathChange>, ReadError> {
        let trees = crate::tree::Trees::new(self.reader());
        let (old, new) = (object_id(old.as_str())?, object_id(new.as_str())?);
        let mut changes = Vec::new();
        crate::tree::diff(&trees, Some(old), Some(new), &mut |path, change| {
            changes.push(PathChange { path: path.to_owned(), change });
        })?;
        changes.sort();
        Ok(changes)
    }

    /// The files (not links) of a tree whose path the filter keeps, by path.
    pub fn files(&self, tree: &TreeId, keep: impl Fn(&str) -> bool) -> Result<Vec<FileEntry>, ReadError> {
        let trees = crate::tree::Trees::new(self.reader());
        let mut found = Vec::new();
        crate::tree::walk(&trees, object_id(tree.as_str())?, "", &mut |path, entry| {
            let is_file = matches!(entry.mode.kind(), EntryKind::Blob | EntryKind::BlobExecutable);
            if is_file && keep(path) {
                found.push(FileEntry { path: path.to_owned(), id: entry.id });
            }
        })?;
        Ok(found)
    }

    /// A file's bytes.
    pub fn bytes(&self, id: ObjectId) -> Result<Vec<u8>, ReadError> {
        crate::tree::blob(&self.reader(), id)
    }

    /// A file as text; bytes that are not UTF-8 are replaced.
    pub fn text(&self, id: ObjectId) -> Result<String, ReadError> {
        Ok(self.bytes(id)?.to_str_lossy().into_owned())
    }
}
