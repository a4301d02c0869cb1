//! Trees of the object database, each decoded once, and the two ways through them: all files, and what differs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use gix::ObjectId;
use gix::bstr::{BString, ByteSlice};
use gix::objs::tree::{EntryKind, EntryMode};

use crate::history::Change;
use crate::repository::ReadError;

/// Deeper nesting than this is refused: no repository of people has it, and it would exhaust the stack.
const DEEPEST: usize = 512;

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: BString,
    pub(crate) mode: EntryMode,
    pub(crate) id: ObjectId,
}

impl Entry {
    pub(crate) fn is_tree(&self) -> bool {
        self.mode.kind() == EntryKind::Tree
    }
}

/// A decoded tree, ordered by the bytes of the names.
pub(crate) type Listing = Rc<[Entry]>;

/// The entry of a name.
pub(crate) fn find<'a>(listing: &'a [Entry], name: &str) -> Option<&'a Entry> {
    let place = listing.binary_search_by(|entry| entry.name.as_bytes().cmp(name.as_bytes())).ok()?;
    listing.get(place)
}

/// A reader of one repository that remembers the trees it has decoded.
pub(crate) struct Trees {
    local: gix::Repository,
    known: RefCell<HashMap<ObjectId, Listing>>,
}

impl Trees {
    pub(crate) fn new(local: gix::Repository) -> Self {
        Self { local, known: RefCell::default() }
    }

    /// The repository underneath.
    pub(crate) fn local(&self) -> &gix::Repository {
        &self.local
    }

    /// The entries of a tree.
    pub(crate) fn listing(&self, id: ObjectId) -> Result<Listing, ReadError> {
        if let Some(known) = self.known.borrow().get(&id) {
            return Ok(Rc::clone(known));
        }
        let listing = self.decode(id)?;
        self.known.borrow_mut().insert(id, Rc::clone(&listing));
        Ok(listing)
    }

    fn decode(&self, id: ObjectId) -> Result<Listing, ReadError> {
        let tree = self.local.find_tree(id).map_err(|error| ReadError::object(id, error))?;
        let decoded = tree.decode().map_err(|error| ReadError::object(id, error))?;
        let entry = |entry: &gix::objs::tree::EntryRef<'_>| Entry {
            name: entry.filename.to_owned(),
            mode: entry.mode,
            id: entry.oid.to_owned(),
        };
        let mut entries: Vec<Entry> = decoded.entries.iter().map(entry).collect();
        // Git itself sorts a directory as if its name ended in `/`.
        entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        Ok(entries.into())
    }
}

/// The bytes of a blob.
pub(crate) fn blob(local: &gix::Repository, id: ObjectId) -> Result<Vec<u8>, ReadError> {
    let mut blob = local.find_blob(id).map_err(|error| ReadError::object(id, error))?;
    Ok(blob.take_data())
}

/// `directory/name`, or `name` at the root. Bytes that are not UTF-8 are replaced: the text is for people, ids decide.
pub(crate) fn joined(directory: &str, name: &[u8]) -> String {
    let name = name.to_str_lossy();
    if directory.is_empty() { name.into_owned() } else { format!("{directory}/{name}") }
}

/// Calls `visit` for everything below a tree that is no tree itself, by name.
pub(crate) fn walk(
    trees: &Trees,
    tree: ObjectId,
    directory: &str,
    visit: &mut dyn FnMut(&str, &Entry),
) -> Result<(), ReadError> {
    refuse_depth(tree, depth_of(directory))?;
    for entry in trees.listing(tree)?.iter() {
        let path = joined(directory, &entry.name);
        if entry.is_tree() {
            walk(trees, entry.id, &path, visit)?;
        } else {
            visit(&path, entry);
        }
    }
    Ok(())
}

/// Calls `report` for each path that differs between two trees; trees with equal ids are not entered.
pub(crate) fn diff(
    trees: &Trees,
    old: Option<ObjectId>,
    new: Option<ObjectId>,
    report: &mut dyn FnMut(&str, Change),
) -> Result<(), ReadError> {
    diff_below(trees, "", (old, new), report)
}

fn diff_below(
    trees: &Trees,
    directory: &str,
    pair: (Option<ObjectId>, Option<ObjectId>),
    report: &mut dyn FnMut(&str, Change),
) -> Result<(), ReadError> {
    let empty = || -> Listing { Rc::from([]) };
    let list = |id: Option<ObjectId>| id.map_or_else(|| Ok(empty()), |id| trees.listing(id));
    refuse_depth(
        pair.1.or(pair.0).unwrap_or_else(|| ObjectId::null(gix::hash::Kind::Sha1)),
        depth_of(directory),
    )?;
    let (old, new) = (list(pair.0)?, list(pair.1)?);
    let before: HashMap<&[u8], &Entry> = old.iter().map(|entry| (entry.name.as_bytes(), entry)).collect();
    let after: HashMap<&[u8], &Entry> = new.iter().map(|entry| (entry.name.as_bytes(), entry)).collect();
    for entry in new.iter() {
        let former = before.get(entry.name.as_bytes()).copied();
        diff_entry(trees, directory, (former, Some(entry)), report)?;
    }
    for entry in old.iter().filter(|entry| !after.contains_key(entry.name.as_bytes())) {
        diff_entry(trees, directory, (Some(entry), None), report)?;
    }
    Ok(())
}

fn diff_entry(
    trees: &Trees,
    directory: &str,
    (old, new): (Option<&Entry>, Option<&Entry>),
    report: &mut dyn FnMut(&str, Change),
) -> Result<(), ReadError> {
    if old == new {
        return Ok(());
    }
    let Some(named) = new.or(old) else { return Ok(()) };
    let path = joined(directory, &named.name);
    let tree = |entry: Option<&Entry>| entry.filter(|entry| entry.is_tree()).map(|entry| entry.id);
    let file = |entry: Option<&Entry>| entry.is_some_and(|entry| !entry.is_tree());
    if tree(old).is_some() || tree(new).is_some() {
        diff_below(trees, &path, (tree(old), tree(new)), report)?;
    }
    match (file(old), file(new)) {
        (true, true) => report(&path, Change::Modified),
        (true, false) => report(&path, Change::Deleted),
        (false, true) => report(&path, Change::Added),
        (false, false) => {}
    }
    Ok(())
}

/// Refuses trees that are nested deeper than recursion can follow.
pub(crate) fn refuse_depth(id: ObjectId, depth: usize) -> Result<(), ReadError> {
    if depth > DEEPEST {
        return Err(ReadError::object(id, format!("directories are nested deeper than {DEEPEST}")));
    }
    Ok(())
}

fn depth_of(directory: &str) -> usize {
    directory.bytes().filter(|byte| *byte == b'/').count()
}
