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
use super::carried::{Carried, Directories, Kept, changed_paths};
use super::explain::{ChangedPath, Comparison};
use super::facts::FileFacts;
use super::ground::Ground;
use super::hcl;
use super::links::{Place, Resolver, join};
use super::scan::{ConfigFile, Scan, Specials};
use super::watched::Watched;
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
    pub(super) carried: Carried,
}

/// What is recorded of the tree that was seen before.
#[derive(Debug, Clone, Default)]
pub struct Before {
    /// The tree; none before the first.
    pub tree: Option<TreeId>,
    /// The digests of its stacks' closures, as far as they are known.
    pub digests: BTreeMap<StackName, ClosureDigest>,
}

/// What a tree brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    /// The closures of all stacks that have another digest now, or none before.
    pub closures: Closures,
    /// What makes them differ, as [`Index::affected`] tells it; `None` where the tree before is not at hand.
    pub changed: Option<BTreeMap<StackName, Vec<ChangedPath>>>,
}

/// A closure, and what was looked at for it.
type Built = (Closure, Watched);

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
        let root = object_id(tree.as_str())?;
        self.learn(repository, root)?;
        let directories = located(repository, root, stacks)?.into_values().flatten().collect();
        let built = self.build(repository, root, &directories, stacks.iter())?;
        let by_stack = built.into_iter().map(|(name, (closure, _))| (name, closure)).collect();
        Ok(Closures { tree: tree.clone(), by_stack })
    }

    /// Finds the stacks whose closure differs from the tree that was seen before. Costs what differs, if this index has
    /// seen that tree; of all other stacks, the digest alone is looked at. Remembers the tree as the one seen last.
    ///
    /// `stacks` must be all of the source, as for [`Index::closures`].
    pub fn since(
        &mut self,
        repository: &Repository,
        before: &Before,
        tree: &TreeId,
        stacks: &BTreeMap<StackName, StackPaths>,
    ) -> Result<News, IndexError> {
        let root = object_id(tree.as_str())?;
        self.learn(repository, root)?;
        let former = before.tree.as_ref().map(|tree| (tree, self.carried.directories_at(tree)));
        let found = self.carry(repository, tree, stacks)?;
        let mut directories = self.carried.directories();
        directories.extend(found.values().flatten().cloned());
        let differs = |name: &StackName| {
            let kept = self.carried.stacks.get(name).map(|kept| kept.digest);
            kept.is_none() || kept != before.digests.get(name).copied()
        };
        let wanted = stacks.iter().filter(|(name, _)| differs(name));
        let built = self.build(repository, root, &directories, wanted)?;
        let by_stack = self.keep(built, stacks, &found);
        let differs = |name: &StackName, closure: &Closure| before.digests.get(name) != Some(&closure.digest);
        let by_stack = by_stack.into_iter().filter(|(name, closure)| differs(name, closure)).collect();
        let closures = Closures { tree: tree.clone(), by_stack };
        let changed = former.and_then(|former| self.changed(repository, former, &closures, stacks).ok());
        Ok(News { closures, changed })
    }

    /// Carries over what still holds at a tree; says where the stacks lie of which nothing is kept.
    fn carry(
        &mut self,
        repository: &Repository,
        tree: &TreeId,
        stacks: &BTreeMap<StackName, StackPaths>,
    ) -> Result<Directories, IndexError> {
        let specials = &self.memory.specials;
        let changed =
            self.carried.tree.as_ref().and_then(|last| changed_paths(repository, (last, tree), specials));
        self.carried.tree = Some(tree.clone());
        let trees = Trees::new(repository.reader());
        let resolver = Resolver::new(&trees, object_id(tree.as_str())?);
        Ok(self.carried.retain(stacks, changed.as_ref(), |paths| locate(&resolver, paths))?)
    }

    /// Keeps what the next tree needs of closures, and returns them.
    fn keep(
        &mut self,
        built: Vec<(StackName, Built)>,
        stacks: &BTreeMap<StackName, StackPaths>,
        found: &Directories,
    ) -> Vec<(StackName, Closure)> {
        let mut closures = Vec::with_capacity(built.len());
        for (name, (closure, watched)) in built {
            // What is kept already was built again for its reasons alone.
            if let (Some(paths), Some(directory)) = (stacks.get(&name), found.get(&name)) {
                let (paths, directory) = (paths.clone(), directory.clone());
                let kept = Kept { paths, directory, digest: closure.digest, watched };
                self.carried.stacks.insert(name.clone(), kept);
            }
            closures.push((name, closure));
        }
        closures
    }

    /// What makes closures differ from a former tree; its stacks' directories, if they are known.
    fn changed(
        &mut self,
        repository: &Repository,
        (tree, directories): (&TreeId, Option<BTreeSet<String>>),
        new: &Closures,
        stacks: &BTreeMap<StackName, StackPaths>,
    ) -> Result<BTreeMap<StackName, Vec<ChangedPath>>, IndexError> {
        let root = object_id(tree.as_str())?;
        self.learn(repository, root)?;
        let directories = match directories {
            Some(known) => known,
            None => located(repository, root, stacks)?.into_values().flatten().collect(),
        };
        let wanted = stacks.iter().filter(|(name, _)| new.by_stack.contains_key(*name));
        let built = self.build(repository, root, &directories, wanted)?;
        let by_stack = built.into_iter().map(|(name, (closure, _))| (name, closure)).collect();
        compared(repository, &Closures { tree: tree.clone(), by_stack }, new)
    }

    /// Works out closures; all that the tree says is known.
    fn build<'a>(
        &self,
        repository: &Repository,
        root: ObjectId,
        directories: &BTreeSet<String>,
        stacks: impl Iterator<Item = (&'a StackName, &'a StackPaths)>,
    ) -> Result<Vec<(StackName, Built)>, IndexError> {
        let stacks: Vec<(&StackName, &StackPaths)> = stacks.collect();
        in_parallel(&stacks, |part| {
            let trees = Trees::new(repository.reader());
            let ground = Ground::new(&trees, root, &self.memory, directories);
            part.iter().map(|(name, paths)| Ok(((*name).clone(), build(&ground, paths)?))).collect()
        })
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
fn located(
    repository: &Repository,
    root: ObjectId,
    stacks: &BTreeMap<StackName, StackPaths>,
) -> Result<Directories, ReadError> {
    let trees = Trees::new(repository.reader());
    let resolver = Resolver::new(&trees, root);
    stacks.iter().map(|(name, paths)| Ok((name.clone(), locate(&resolver, paths)?))).collect()
}

/// The real directory of one stack; none where there is none.
fn locate(resolver: &Resolver<'_>, paths: &StackPaths) -> Result<Option<String>, ReadError> {
    let Some(path) = join("", &paths.path) else { return Ok(None) };
    Ok(match resolver.resolve(&path)?.place {
        Place::There { path, .. } => Some(path),
        _ => None,
    })
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
