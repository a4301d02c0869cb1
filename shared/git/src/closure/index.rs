//! What is remembered between revisions, and the closures of all stacks of a tree.
//!
//! Facts are kept by blob and tree id, so that a push costs what it changed. The memory can be stored as bytes and read
//! back; it only spares work: without it, or with one of another version, the same closures come out.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

use gix::ObjectId;
use yuba_core::id::{ClosureDigest, StackName, TreeId};

use super::build::build;
use super::explain::{ChangedPath, Comparison};
use super::facts::FileFacts;
use super::ground::Ground;
use super::hcl;
use super::links::{Place, Resolver, join};
use super::scan::{ConfigFile, Scan, Specials};
use super::{Closure, StackPaths};
use crate::history::Change;
use crate::repository::{ReadError, Repository, object_id};
use crate::tree::{Trees, blob};

/// More threads than this bring nothing: the object database is the limit.
const MOST_THREADS: usize = 8;

/// Why the closures of a tree could not be worked out.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The repository could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A thread ended early.
    #[error("working out closures was broken off")]
    BrokenOff,
}

/// What blobs and trees say, by id.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) files: HashMap<ConfigFile, Arc<FileFacts>>,
    pub(super) specials: Specials,
}

/// What is remembered of a source between its revisions.
#[derive(Debug, Default)]
pub struct Index {
    pub(super) memory: Memory,
}

/// What is known of the tree that was seen before.
#[derive(Debug, Clone)]
pub struct Before {
    /// The tree.
    pub tree: TreeId,
    /// The digests of its stacks' closures, as far as they are known: closures are worked out again only of stacks
    /// that have another digest now, or none here.
    pub digests: BTreeMap<StackName, ClosureDigest>,
}

/// The closures of all stacks of one tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closures {
    /// The tree.
    pub tree: TreeId,
    /// The closures.
    pub by_stack: BTreeMap<StackName, Closure>,
}

impl Index {
    /// An index that remembers nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Works out the closures of all stacks of a source at a tree.
    ///
    /// `stacks` must be all of them: a file belongs to its nearest stack.
    pub fn closures(
        &mut self,
        repository: &Repository,
        tree: &TreeId,
        stacks: &BTreeMap<StackName, StackPaths>,
    ) -> Result<Closures, IndexError> {
        self.closures_of(repository, tree, stacks, |_| true)
    }

    /// The same of some stacks alone.
    fn closures_of(
        &mut self,
        repository: &Repository,
        tree: &TreeId,
        stacks: &BTreeMap<StackName, StackPaths>,
        wanted: impl Fn(&StackName) -> bool,
    ) -> Result<Closures, IndexError> {
        let root = object_id(tree.as_str())?;
        self.learn(repository, root)?;
        let directories = stack_directories(repository, root, stacks)?;
        let some: Vec<(&StackName, &StackPaths)> = stacks.iter().filter(|(name, _)| wanted(name)).collect();
        let built = in_parallel(&some, |part| {
            let trees = Trees::new(repository.reader());
            let ground = Ground::new(&trees, root, &self.memory, &directories);
            part.iter().map(|(name, paths)| Ok(((*name).clone(), build(&ground, paths)?))).collect()
        })?;
        Ok(Closures { tree: tree.clone(), by_stack: built.into_iter().collect() })
    }

    /// The stacks whose closure differs between two trees, each with the paths that make the difference. A stack that
    /// only one of the two has is named with its directory.
    pub fn affected(
        repository: &Repository,
        old: &Closures,
        new: &Closures,
    ) -> Result<BTreeMap<StackName, Vec<ChangedPath>>, IndexError> {
        let both = compared(repository, old, new)?;
        let only =
            |these: &Closures, those: &Closures, change: Change| -> Vec<(StackName, Vec<ChangedPath>)> {
                let lonely = these.by_stack.iter().filter(|(name, _)| !those.by_stack.contains_key(*name));
                lonely.map(|(name, closure)| (name.clone(), ChangedPath::whole(closure, change))).collect()
            };
        let lonely = only(new, old, Change::Added).into_iter().chain(only(old, new, Change::Deleted));
        Ok(both.into_iter().chain(lonely).collect())
    }

    /// The stacks whose closure differs from the tree that was seen before, as [`Index::affected`] tells them. Costs what
    /// differs: of all other stacks, the digest alone is looked at.
    pub fn affected_since(
        &mut self,
        repository: &Repository,
        before: &Before,
        new: &Closures,
        stacks: &BTreeMap<StackName, StackPaths>,
    ) -> Result<BTreeMap<StackName, Vec<ChangedPath>>, IndexError> {
        let differs = |name: &StackName| {
            let digest = new.by_stack.get(name).map(|closure| closure.digest);
            digest.is_some() && digest != before.digests.get(name).copied()
        };
        let old = self.closures_of(repository, &before.tree, stacks, differs)?;
        compared(repository, &old, new)
    }

    /// Reads what is new in a tree.
    fn learn(&mut self, repository: &Repository, root: ObjectId) -> Result<(), IndexError> {
        let trees = Trees::new(repository.reader());
        let mut scan = Scan { trees: &trees, specials: &mut self.memory.specials, configs: HashSet::new() };
        scan.tree(root, 0)?;
        let known = &self.memory.files;
        let unread: Vec<ConfigFile> =
            scan.configs.into_iter().filter(|file| !known.contains_key(file)).collect();
        let nothing = Arc::new(FileFacts::default());
        let read = in_parallel(&unread, |part| {
            let local = repository.reader();
            part.iter().map(|file| Ok((*file, read_config(&local, *file, &nothing)?))).collect()
        })?;
        self.memory.files.extend(read);
        Ok(())
    }
}

/// What differs of the stacks that both have.
fn compared(
    repository: &Repository,
    old: &Closures,
    new: &Closures,
) -> Result<BTreeMap<StackName, Vec<ChangedPath>>, IndexError> {
    let pairs: Vec<(&StackName, &Closure, &Closure)> = new
        .by_stack
        .iter()
        .filter_map(|(name, closure)| Some((name, old.by_stack.get(name)?, closure)))
        .filter(|(_, former, closure)| former.digest != closure.digest)
        .collect();
    let differences = in_parallel(&pairs, |part| {
        let comparison = Comparison::new(repository.reader());
        part.iter().map(|(name, old, new)| Ok(((*name).clone(), comparison.compare(old, new)?))).collect()
    })?;
    Ok(differences.into_iter().collect())
}

/// Files that say nothing share one value.
fn read_config(
    local: &gix::Repository,
    (id, dialect): ConfigFile,
    nothing: &Arc<FileFacts>,
) -> Result<Arc<FileFacts>, ReadError> {
    let facts = hcl::read(dialect, &blob(local, id)?);
    Ok(if facts.is_empty() { Arc::clone(nothing) } else { Arc::new(facts) })
}

/// The real directories of stacks.
fn stack_directories(
    repository: &Repository,
    root: ObjectId,
    stacks: &BTreeMap<StackName, StackPaths>,
) -> Result<BTreeSet<String>, ReadError> {
    let trees = Trees::new(repository.reader());
    let resolver = Resolver::new(&trees, root);
    let mut directories = BTreeSet::new();
    for paths in stacks.values() {
        let Some(path) = join("", &paths.path) else { continue };
        if let Place::There { path, .. } = resolver.resolve(&path)?.place {
            directories.insert(path);
        }
    }
    Ok(directories)
}

/// Does a piece of work on all items, split among threads.
fn in_parallel<Item: Sync, Done: Send>(
    items: &[Item],
    work: impl Fn(&[Item]) -> Result<Vec<Done>, ReadError> + Sync,
) -> Result<Vec<Done>, IndexError> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let part = items.len().div_ceil(threads).max(64);
    if items.len() <= part {
        return Ok(work(items)?);
    }
    thread::scope(|scope| {
        let running: Vec<_> = items.chunks(part).map(|part| scope.spawn(|| work(part))).collect();
        let mut all = Vec::with_capacity(items.len());
        for thread in running {
            all.extend(thread.join().map_err(|_| IndexError::BrokenOff)??);
        }
        Ok(all)
    })
}
