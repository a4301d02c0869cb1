//! Paths of one tree, with symbolic links followed as the file system would after a checkout: a link's target is
//! relative to the link's own directory.

use std::cell::RefCell;
use std::collections::HashMap;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::tree::{EntryKind, EntryMode};
use yuba_core::artifact::{FaultyLink, LinkFault};

use crate::repository::ReadError;
use crate::tree::{Listing, Trees, blob, find};

/// As many links as Linux follows in one path.
const MOST_LINKS: usize = 40;

/// A symbolic link that was followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Followed {
    pub(super) path: String,
    pub(super) id: ObjectId,
    /// As written.
    target: String,
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// To a file or directory, under its real path.
    There { path: String, mode: EntryMode, id: ObjectId },
    /// To nothing.
    Missing { path: String },
    /// Around in a circle, or through more links than a system follows.
    Loop,
    /// Out of the repository.
    Outside,
    /// Into a submodule, whose files are not in this repository.
    Submodule { path: String },
}

/// Where a path leads, and the links on the way.
#[derive(Debug, Clone)]
pub(crate) struct Resolved {
    pub(crate) place: Place,
    pub(super) links: Vec<Followed>,
}

/// How far one walk along a path came.
enum Step {
    Arrived(Place),
    /// To a link; its target is followed by what is left of the path. No target where that lies outside.
    Link {
        link: Followed,
        target: Option<String>,
    },
}

/// Resolves paths of one tree.
pub(crate) struct Resolver<'a> {
    pub(super) trees: &'a Trees,
    pub(super) root: ObjectId,
    directories: RefCell<HashMap<String, Option<ObjectId>>>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(trees: &'a Trees, root: ObjectId) -> Self {
        Self { trees, root, directories: RefCell::default() }
    }

    /// Follows a path of the repository (without `.` and `..`; see [`join`]).
    pub(crate) fn resolve(&self, path: &str) -> Result<Resolved, ReadError> {
        let mut links = Vec::new();
        let mut path = path.to_owned();
        while links.len() <= MOST_LINKS {
            match self.follow(&path)? {
                Step::Arrived(place) => return Ok(Resolved { place, links }),
                Step::Link { link, target: Some(target) } => {
                    links.push(link);
                    path = target;
                }
                Step::Link { link, target: None } => {
                    links.push(link);
                    return Ok(Resolved { place: Place::Outside, links });
                }
            }
        }
        Ok(Resolved { place: Place::Loop, links })
    }

    /// The link that makes a path lead to nothing in the repository: of those that were followed, the last that leads to
    /// nothing itself.
    pub(crate) fn faulty(&self, resolved: &Resolved) -> Result<Option<FaultyLink>, ReadError> {
        for Followed { path, target, .. } in resolved.links.iter().rev() {
            if let Some(fault) = self.fault(path)? {
                return Ok(Some(FaultyLink { path: path.clone(), target: target.clone(), fault }));
            }
        }
        Ok(None)
    }

    /// Why a link leads to nothing in the repository; `None` where it leads somewhere.
    pub(crate) fn fault(&self, link: &str) -> Result<Option<LinkFault>, ReadError> {
        Ok(match self.resolve(link)?.place {
            Place::Outside => Some(LinkFault::Outside),
            Place::Missing { .. } => Some(LinkFault::Nowhere),
            Place::Loop => Some(LinkFault::Circle),
            Place::There { .. } | Place::Submodule { .. } => None,
        })
    }

    /// Goes along a path to its end or to the first link. `..` leaves the real directory, as the file system has it, which
    /// behind a link is not the directory that is written before it.
    fn follow(&self, path: &str) -> Result<Step, ReadError> {
        let mut here = String::new();
        let mut found = (EntryMode::from(EntryKind::Tree), self.root);
        let mut names = path.split('/').filter(|name| !matches!(*name, "" | "."));
        while let Some(name) = names.next() {
            if name == ".." {
                match self.above(&here)? {
                    Some((above, tree)) => (here, found) = (above, (EntryMode::from(EntryKind::Tree), tree)),
                    None => return Ok(Step::Arrived(Place::Outside)),
                }
                continue;
            }
            let child = joined(&here, name);
            let rest = |start: &str| names.clone().fold(start.to_owned(), |path, name| joined(&path, name));
            match self.entry(&here, name)? {
                None => return Ok(Step::Arrived(Place::Missing { path: rest(&child) })),
                Some((mode, id)) if mode.is_link() => {
                    let written = blob(self.trees.local(), id)?.to_str_lossy().into_owned();
                    let target = (!written.starts_with('/')).then(|| rest(&joined(&here, &written)));
                    return Ok(Step::Link { link: Followed { path: child, id, target: written }, target });
                }
                Some((mode, _)) if mode.is_commit() => {
                    return Ok(Step::Arrived(Place::Submodule { path: child }));
                }
                Some(entry) => (here, found) = (child, entry),
            }
        }
        Ok(Step::Arrived(Place::There { path: here, mode: found.0, id: found.1 }))
    }

    /// The directory above a real path; none above the root.
    fn above(&self, path: &str) -> Result<Option<(String, ObjectId)>, ReadError> {
        let Some(above) = join(path, "..") else { return Ok(None) };
        Ok(self.directory(&above)?.map(|tree| (above, tree)))
    }

    /// The entries of a real directory; empty where there is none.
    pub(crate) fn listing(&self, directory: &str) -> Result<Option<Listing>, ReadError> {
        self.directory(directory)?.map(|id| self.trees.listing(id)).transpose()
    }

    fn entry(&self, directory: &str, name: &str) -> Result<Option<(EntryMode, ObjectId)>, ReadError> {
        let listing = self.listing(directory)?;
        Ok(listing.and_then(|listing| find(&listing, name).map(|entry| (entry.mode, entry.id))))
    }

    /// The tree of a real directory.
    fn directory(&self, path: &str) -> Result<Option<ObjectId>, ReadError> {
        if path.is_empty() {
            return Ok(Some(self.root));
        }
        if let Some(known) = self.directories.borrow().get(path) {
            return Ok(*known);
        }
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        let entry = self.entry(parent, name)?;
        let id = entry.filter(|(mode, _)| mode.kind() == EntryKind::Tree).map(|(_, id)| id);
        self.directories.borrow_mut().insert(path.to_owned(), id);
        Ok(id)
    }
}

pub(super) fn joined(directory: &str, name: &str) -> String {
    crate::tree::joined(directory, name.as_bytes())
}

/// A relative path as seen from a directory of the repository; `.`, `..` and doubled slashes are worked out. None where
/// it leaves the repository.
pub(crate) fn join(directory: &str, relative: &str) -> Option<String> {
    if relative.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_within_the_repository() {
        for (directory, relative, expected) in [
            ("a/b", "./c", Some("a/b/c")),
            ("a/b", "../c//d/", Some("a/c/d")),
            ("a", "..", Some("")),
            ("", "..", None),
            ("a", "../../x", None),
            ("a", "/etc/passwd", None),
        ] {
            assert_eq!(join(directory, relative).as_deref(), expected, "{directory} + {relative}");
        }
    }
}
