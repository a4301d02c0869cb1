//! What the closures of all stacks of one tree share: what its blobs and trees say, and where its stacks lie.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::tree::{EntryKind, EntryMode};
use globset::GlobBuilder;

use super::Content;
use super::facts::{Base, FileFacts, Read};
use super::hcl::{self, Dialect};
use super::index::Memory;
use super::links::{Place, Resolved, Resolver, join, joined};
use super::scan::{Special, SpecialKind, is_lfs_pointer};
use crate::repository::ReadError;
use crate::tree::{Trees, blob};

/// A path that a trigger names.
#[derive(Debug, Clone)]
pub(super) struct TriggerMatch {
    pub(super) path: String,
    pub(super) mode: EntryMode,
    pub(super) id: ObjectId,
}

impl TriggerMatch {
    /// A trigger means everything below what it names, also other stacks.
    pub(super) fn content(&self) -> Content {
        if self.mode.is_tree() {
            Content::Directory { id: self.id, tree: self.id, without: BTreeSet::new() }
        } else {
            Content::File { id: self.id, mode: self.mode.value() }
        }
    }
}

/// What a trigger names.
pub(super) struct Matches {
    /// The directory below which it can match, or the very path that it names.
    pub(super) below: String,
    pub(super) found: Vec<TriggerMatch>,
}

/// The configuration files of a module that say something, with their paths as the module was called.
pub(super) type ModuleFacts = Rc<[(String, Arc<FileFacts>)]>;

type Trigger = Rc<Result<Matches, String>>;
type Pruned = (ObjectId, Rc<BTreeSet<String>>);

/// The ground that closures of one tree stand on, for one thread.
pub(super) struct Ground<'a> {
    pub(super) resolver: Resolver<'a>,
    resolved: RefCell<HashMap<String, Rc<Resolved>>>,
    modules: RefCell<HashMap<String, ModuleFacts>>,
    memory: &'a Memory,
    /// The directories of all stacks of the source.
    stacks: &'a BTreeSet<String>,
    has_lfs: bool,
    triggers: RefCell<HashMap<String, Trigger>>,
    pruned: RefCell<HashMap<String, Pruned>>,
    pointers: RefCell<HashMap<ObjectId, Rc<[String]>>>,
}

impl<'a> Ground<'a> {
    pub(super) fn new(
        trees: &'a Trees,
        root: ObjectId,
        memory: &'a Memory,
        stacks: &'a BTreeSet<String>,
    ) -> Self {
        let has_lfs = memory
            .specials
            .get(&root)
            .is_some_and(|specials| specials.iter().any(|special| special.kind == SpecialKind::LfsRules));
        Self {
            resolver: Resolver::new(trees, root),
            resolved: RefCell::default(),
            modules: RefCell::default(),
            memory,
            stacks,
            has_lfs,
            triggers: RefCell::default(),
            pruned: RefCell::default(),
            pointers: RefCell::default(),
        }
    }

    /// Where a path leads; worked out once, since stacks share modules.
    pub(super) fn resolve(&self, path: &str) -> Result<Rc<Resolved>, ReadError> {
        if let Some(known) = self.resolved.borrow().get(path) {
            return Ok(Rc::clone(known));
        }
        let resolved = Rc::new(self.resolver.resolve(path)?);
        self.resolved.borrow_mut().insert(path.to_owned(), Rc::clone(&resolved));
        Ok(resolved)
    }

    /// What the configuration files of a module's directory say. One that is a link says what its target says, as seen
    /// from the link's own directory.
    pub(super) fn module(&self, directory: &str) -> Result<ModuleFacts, ReadError> {
        if let Some(known) = self.modules.borrow().get(directory) {
            return Ok(Rc::clone(known));
        }
        let facts: ModuleFacts = self.read_module(directory)?.into();
        self.modules.borrow_mut().insert(directory.to_owned(), Rc::clone(&facts));
        Ok(facts)
    }

    fn read_module(&self, directory: &str) -> Result<Vec<(String, Arc<FileFacts>)>, ReadError> {
        let resolved = self.resolve(directory)?;
        let Place::There { path: real, .. } = &resolved.place else { return Ok(Vec::new()) };
        let mut said = Vec::new();
        let mut followed = HashSet::new();
        for entry in self.resolver.listing(real)?.iter().flat_map(|listing| listing.iter()) {
            let Some(dialect) = Dialect::of(&entry.name) else { continue };
            let name = entry.name.to_str_lossy();
            let blob = match entry.mode.kind() {
                EntryKind::Link => match &self.resolve(&joined(real, &name))?.place {
                    Place::There { mode, id, .. } if mode.is_blob() => Some(*id),
                    _ => None,
                },
                _ => entry.mode.is_blob().then_some(entry.id),
            };
            let Some(id) = blob else { continue };
            let facts = self.without_repeated(directory, self.facts(id, dialect)?, &mut followed)?;
            if !facts.is_empty() {
                said.push((joined(directory, &name), facts));
            }
        }
        Ok(said)
    }

    /// The facts of a module's file without reads that other files of the module bring already, since every stack that
    /// calls the module would go through them again. Only what is there and is reached without links: of anything else,
    /// each reader is named.
    fn without_repeated(
        &self,
        directory: &str,
        facts: Arc<FileFacts>,
        followed: &mut HashSet<(String, bool)>,
    ) -> Result<Arc<FileFacts>, ReadError> {
        let mut kept = Vec::with_capacity(facts.reads.len());
        for wanted in &facts.reads {
            let is_new = match self.read_in_module(directory, wanted)? {
                // What is only mentioned may be passed over by a stack; what a function reads never is.
                Some(path) if wanted.function.is_some() => followed.insert((path, true)),
                Some(path) => !followed.contains(&(path.clone(), true)) && followed.insert((path, false)),
                None => true,
            };
            if is_new {
                kept.push(wanted.clone());
            }
        }
        if kept.len() == facts.reads.len() {
            return Ok(facts);
        }
        let FileFacts { calls, broken, .. } = facts.as_ref().clone();
        Ok(Arc::new(FileFacts { calls, reads: kept, broken }))
    }

    /// The real path of what a module's file reads, where that is the same for every stack and no link leads there.
    fn read_in_module(&self, directory: &str, read: &Read) -> Result<Option<String>, ReadError> {
        if read.base != Base::Module {
            return Ok(None);
        }
        let Some(path) = join(directory, read.place()) else { return Ok(None) };
        let resolved = self.resolve(&path)?;
        Ok(match &resolved.place {
            Place::There { path, .. } if resolved.links.is_empty() => Some(path.clone()),
            _ => None,
        })
    }

    /// What a configuration file says. All files of the tree are known from the scan; a link can lead to one of another
    /// name.
    fn facts(&self, id: ObjectId, dialect: Dialect) -> Result<Arc<FileFacts>, ReadError> {
        if let Some(known) = self.memory.files.get(&(id, dialect)) {
            return Ok(Arc::clone(known));
        }
        Ok(Arc::new(hcl::read(dialect, &blob(self.resolver.trees.local(), id)?)))
    }

    /// What below a tree needs care.
    pub(super) fn specials(&self, tree: ObjectId) -> Result<Arc<[Special]>, ReadError> {
        let known = self.memory.specials.get(&tree).map(Arc::clone);
        known.ok_or_else(|| ReadError::object(tree, "it is not part of the tree that was scanned"))
    }

    /// The id of a directory's tree without the directories of stacks below it, and those directories.
    pub(super) fn without_other_stacks(&self, path: &str, tree: ObjectId) -> Result<Pruned, ReadError> {
        if let Some(known) = self.pruned.borrow().get(path) {
            return Ok(known.clone());
        }
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        let below = self.stacks.range(prefix.clone()..).take_while(|stack| stack.starts_with(&prefix));
        let without: BTreeSet<String> = below.filter(|stack| stack.as_str() != path).cloned().collect();
        let id = if without.is_empty() { Some(tree) } else { self.prune(path, tree, &without)? };
        let empty = || ObjectId::empty_tree(gix::hash::Kind::Sha1);
        let pruned = (id.unwrap_or_else(empty), Rc::new(without));
        self.pruned.borrow_mut().insert(path.to_owned(), pruned.clone());
        Ok(pruned)
    }

    /// The id that Git would give the tree without some directories: a stack that is added inside another's directory
    /// must not change the outer one's closure. None where nothing is left.
    fn prune(
        &self,
        path: &str,
        tree: ObjectId,
        without: &BTreeSet<String>,
    ) -> Result<Option<ObjectId>, ReadError> {
        let mut kept = gix::objs::Tree::empty();
        for entry in self.resolver.trees.listing(tree)?.iter() {
            let place = joined(path, &entry.name.to_str_lossy());
            if without.contains(&place) {
                continue;
            }
            let inside = format!("{place}/");
            let touched =
                without.range(inside.clone()..).next().is_some_and(|next| next.starts_with(&inside));
            let id = if entry.is_tree() && touched {
                self.prune(&place, entry.id, without)?
            } else {
                Some(entry.id)
            };
            if let Some(oid) = id {
                let filename = entry.name.clone();
                kept.entries.push(gix::objs::tree::Entry { mode: entry.mode, filename, oid });
            }
        }
        if kept.entries.is_empty() {
            return Ok(None);
        }
        kept.entries.sort();
        let mut bytes = Vec::new();
        gix::objs::WriteTo::write_to(&kept, &mut bytes).map_err(|error| ReadError::object(tree, error))?;
        gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Tree, &bytes)
            .map(Some)
            .map_err(|error| ReadError::object(tree, error))
    }

    /// The LFS pointers below a tree, relative to it; nothing is looked at where no `.gitattributes` speaks of LFS.
    pub(super) fn lfs_pointers(&self, tree: ObjectId) -> Result<Rc<[String]>, ReadError> {
        if !self.has_lfs {
            return Ok(Rc::from([]));
        }
        if let Some(known) = self.pointers.borrow().get(&tree) {
            return Ok(Rc::clone(known));
        }
        let mut found = Vec::new();
        let trees = self.resolver.trees;
        for entry in trees.listing(tree)?.iter() {
            let name = entry.name.to_str_lossy();
            if entry.is_tree() {
                let below = self.lfs_pointers(entry.id)?;
                found.extend(below.iter().map(|path| joined(&name, path)));
            } else if entry.mode.is_blob() && is_lfs_pointer(trees, entry.id)? {
                found.push(name.into_owned());
            }
        }
        let found: Rc<[String]> = found.into();
        self.pointers.borrow_mut().insert(tree, Rc::clone(&found));
        Ok(found)
    }

    /// Whether a blob is an LFS pointer, in a tree that uses LFS.
    pub(super) fn is_lfs_pointer(&self, id: ObjectId) -> Result<bool, ReadError> {
        Ok(self.has_lfs && is_lfs_pointer(self.resolver.trees, id)?)
    }

    /// What a trigger names: a path and everything below it, or whatever a glob matches.
    pub(super) fn trigger(&self, glob: &str) -> Result<Trigger, ReadError> {
        if let Some(known) = self.triggers.borrow().get(glob) {
            return Ok(Rc::clone(known));
        }
        let matches: Trigger = Rc::new(self.match_trigger(glob)?);
        self.triggers.borrow_mut().insert(glob.to_owned(), Rc::clone(&matches));
        Ok(matches)
    }

    fn match_trigger(&self, glob: &str) -> Result<Result<Matches, String>, ReadError> {
        let pattern = glob.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
        let matcher = match GlobBuilder::new(pattern).literal_separator(true).build() {
            Ok(glob) => glob.compile_matcher(),
            Err(error) => return Ok(Err(error.kind().to_string())),
        };
        let fixed = pattern.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default();
        let directory = if fixed.len() == pattern.len() {
            pattern
        } else {
            fixed.rsplit_once('/').map_or("", |(path, _)| path)
        };
        let Some(directory) = join("", directory) else {
            return Ok(Err("it leaves the repository".to_owned()));
        };
        let mut named = Matches { below: directory, found: Vec::new() };
        let place = self.resolver.resolve(&named.below)?.place;
        if let Place::There { path, .. } | Place::Missing { path } = &place {
            named.below.clone_from(path);
        }
        if let Place::There { path, mode, id } = place {
            let start = TriggerMatch { path, mode, id };
            if fixed.len() == pattern.len() || pattern.is_empty() {
                named.found.push(start);
            } else {
                self.match_below(&start, &|path| matcher.is_match(path), &mut named.found)?;
            }
        }
        Ok(Ok(named))
    }

    fn match_below(
        &self,
        place: &TriggerMatch,
        fits: &dyn Fn(&str) -> bool,
        found: &mut Vec<TriggerMatch>,
    ) -> Result<(), ReadError> {
        if !place.mode.is_tree() {
            return Ok(());
        }
        for entry in self.resolver.trees.listing(place.id)?.iter() {
            let path = joined(&place.path, &entry.name.to_str_lossy());
            let child = TriggerMatch { path, mode: entry.mode, id: entry.id };
            if fits(&child.path) {
                found.push(child);
            } else {
                self.match_below(&child, fits, found)?;
            }
        }
        Ok(())
    }
}
