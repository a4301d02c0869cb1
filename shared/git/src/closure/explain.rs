//! What makes two closures differ, in words for people.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::rc::Rc;

use gix::ObjectId;

use super::digest::{Covered, is_below_any};
use super::{Closure, Content, Entry, Why};
use crate::history::{Change, PathChange};
use crate::repository::{ReadError, Repository};
use crate::tree::{Trees, diff, find, joined};

/// A path that differs between two closures of a stack, and why it belongs to the stack.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedPath {
    /// The path, relative to the repository's root; a directory where it came or went as a whole.
    pub path: String,
    /// How it differs.
    pub change: Change,
    /// Why it belongs to the closure.
    pub why: Why,
}

impl fmt::Display for ChangedPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "." } else { &self.path };
        write!(formatter, "{path} {} ({})", self.change, self.why)
    }
}

impl ChangedPath {
    /// A closure that came or went as a whole.
    pub(super) fn whole(closure: &Closure, change: Change) -> Vec<Self> {
        let directory = closure.entries.iter().find(|entry| entry.why == Why::StackDirectory);
        directory
            .map(|entry| Self { path: entry.path.clone(), change, why: entry.why.clone() })
            .into_iter()
            .collect()
    }
}

impl Closure {
    /// The paths that make `new` differ from this closure of the same stack.
    pub fn compare(&self, repository: &Repository, new: &Self) -> Result<Vec<ChangedPath>, ReadError> {
        Comparison::new(repository.reader()).compare(self, new)
    }
}

type Difference = Rc<[PathChange]>;

/// Compares closures; remembers the trees it has compared, since stacks share modules.
pub(super) struct Comparison {
    trees: Trees,
    known: RefCell<HashMap<(ObjectId, ObjectId), Difference>>,
}

impl Comparison {
    pub(super) fn new(local: gix::Repository) -> Self {
        Self { trees: Trees::new(local), known: RefCell::default() }
    }

    pub(super) fn compare(&self, old: &Closure, new: &Closure) -> Result<Vec<ChangedPath>, ReadError> {
        let before: BTreeMap<&str, &Entry> =
            old.entries.iter().map(|entry| (entry.path.as_str(), entry)).collect();
        let after: BTreeMap<&str, &Entry> =
            new.entries.iter().map(|entry| (entry.path.as_str(), entry)).collect();
        let paths: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
        let (was_covered, is_covered) = (Covered::by(&old.entries), Covered::by(&new.entries));
        let mut changes = BTreeMap::<String, ChangedPath>::new();
        for path in paths {
            // Where only the reason came or went, the path belonged to the stack already, or still does.
            let covered = |change: &ChangedPath| match change.change {
                Change::Added => change.path == path && was_covered.has(path),
                Change::Deleted => change.path == path && is_covered.has(path),
                _ => false,
            };
            let found = self.entry(before.get(path).copied(), after.get(path).copied())?;
            for change in found.into_iter().filter(|change| !covered(change)) {
                // The most specific entry comes last, and gives the reason.
                changes.insert(change.path.clone(), self.told_apart(change, (old.tree, new.tree))?);
            }
        }
        Ok(changes.into_values().collect())
    }

    fn entry(&self, old: Option<&Entry>, new: Option<&Entry>) -> Result<Vec<ChangedPath>, ReadError> {
        let Some(Entry { path, why, .. }) = new.or(old) else { return Ok(Vec::new()) };
        let whole = |change| vec![ChangedPath { path: path.clone(), change, why: why.clone() }];
        let contents = (present(old), present(new));
        Ok(match contents {
            (None, None) => Vec::new(),
            (Some(old), Some(new)) if same(old, new) => Vec::new(),
            (None, Some(_)) => whole(Change::Added),
            (Some(_), None) => whole(Change::Deleted),
            (Some(Content::Directory { tree: old, without: old_without, .. }), Some(new)) => match new {
                Content::Directory { tree: new, without, .. } => {
                    let inside = self.difference(*old, *new)?;
                    let shown = inside.iter().filter_map(|change| seen(path, change, (old_without, without)));
                    let shown: Vec<ChangedPath> =
                        shown.map(|(path, change)| ChangedPath { path, change, why: why.clone() }).collect();
                    // Nothing differs but which stacks lie inside: then the directory itself is the change.
                    if shown.is_empty() { whole(Change::Modified) } else { shown }
                }
                _ => whole(Change::Modified),
            },
            (Some(_), Some(_)) => whole(Change::Modified),
        })
    }

    /// What came or went, told apart from what was there before or still is, and only its belonging to the stack changed.
    fn told_apart(
        &self,
        change: ChangedPath,
        (old, new): (ObjectId, ObjectId),
    ) -> Result<ChangedPath, ReadError> {
        let kind = match change.change {
            Change::Added if self.exists(old, &change.path)? => Change::Reached,
            Change::Deleted if self.exists(new, &change.path)? => Change::LeftBehind,
            other => other,
        };
        Ok(ChangedPath { change: kind, ..change })
    }

    /// Whether a path lies in a tree.
    fn exists(&self, tree: ObjectId, path: &str) -> Result<bool, ReadError> {
        let mut here = Some((true, tree));
        for name in path.split('/').filter(|name| !name.is_empty()) {
            let Some((true, id)) = here else { return Ok(false) };
            here = find(&self.trees.listing(id)?, name).map(|entry| (entry.is_tree(), entry.id));
        }
        Ok(here.is_some())
    }

    fn difference(&self, old: ObjectId, new: ObjectId) -> Result<Difference, ReadError> {
        if let Some(known) = self.known.borrow().get(&(old, new)) {
            return Ok(Rc::clone(known));
        }
        let mut changes = Vec::new();
        diff(&self.trees, Some(old), Some(new), &mut |path, change| {
            changes.push(PathChange { path: path.to_owned(), change });
        })?;
        let changes: Difference = changes.into();
        self.known.borrow_mut().insert((old, new), Rc::clone(&changes));
        Ok(changes)
    }
}

fn present(entry: Option<&Entry>) -> Option<&Content> {
    entry.map(|entry| &entry.content).filter(|content| **content != Content::Missing)
}

fn same(old: &Content, new: &Content) -> bool {
    match (old, new) {
        (Content::Directory { id: old, .. }, Content::Directory { id: new, .. }) => old == new,
        _ => old == new,
    }
}

/// A change inside a directory as the closure sees it: what was or is another stack's is not there for it.
fn seen(
    directory: &str,
    change: &PathChange,
    (old, new): (&BTreeSet<String>, &BTreeSet<String>),
) -> Option<(String, Change)> {
    let path = joined(directory, change.path.as_bytes());
    let was = change.change != Change::Added && !is_below_any(&path, old);
    let is = change.change != Change::Deleted && !is_below_any(&path, new);
    match (was, is) {
        (true, true) => Some((path, Change::Modified)),
        (true, false) => Some((path, Change::Deleted)),
        (false, true) => Some((path, Change::Added)),
        (false, false) => None,
    }
}
