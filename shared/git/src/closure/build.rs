//! The closure of one stack: from its directory along module calls, reads and links.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::rc::Rc;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use gix::objs::tree::{EntryKind, EntryMode};

use super::digest::{digest, is_below_any, uncovered};
use super::facts::{Base, Call, FileFacts, Read, enclosing};
use super::ground::Ground;
use super::links::{Place, Resolved, join, joined};
use super::problem::{ClosureProblem, ProblemKind};
use super::scan::SpecialKind;
use super::watched::Watched;
use super::{Closure, Content, Entry, StackPaths, Why};
use crate::repository::ReadError;

/// Works out the closure of one stack, and what of the tree was looked at for it.
pub(super) fn build(ground: &Ground<'_>, stack: &StackPaths) -> Result<(Closure, Watched), ReadError> {
    let mut builder = Builder {
        ground,
        stack: String::new(),
        entries: BTreeMap::new(),
        watched: Watched::default(),
        problems: BTreeSet::new(),
        queue: VecDeque::new(),
        visited: HashSet::new(),
    };
    builder.stack(stack)?;
    for file in &stack.tf_vars_files {
        builder.path("", file, &Why::TfVarsFile, Needed::Yes)?;
    }
    for glob in &stack.triggers {
        builder.trigger(glob)?;
    }
    while let Some(directory) = builder.queue.pop_front() {
        builder.module(&directory)?;
    }
    Ok(builder.finish())
}

/// Whether it is a fault when a path leads to nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Needed {
    Yes,
    No,
}

struct Builder<'a> {
    ground: &'a Ground<'a>,
    /// The stack's directory as its settings name it.
    stack: String,
    entries: BTreeMap<String, Entry>,
    watched: Watched,
    problems: BTreeSet<ClosureProblem>,
    /// Module directories, as they were called, whose files are still to be read.
    queue: VecDeque<String>,
    visited: HashSet<String>,
}

impl Builder<'_> {
    fn stack(&mut self, stack: &StackPaths) -> Result<(), ReadError> {
        let Some(path) = join("", &stack.path) else {
            self.problem(&stack.path, ProblemKind::MissingStack);
            return Ok(());
        };
        self.stack.clone_from(&path);
        let resolved = self.follow(&path)?;
        match &resolved.place {
            Place::There { path: real, mode, id } if mode.is_tree() => {
                self.directory(real, *id, &Why::StackDirectory)?;
                self.queue.push_back(path);
            }
            Place::There { .. } => self.problem(&path, ProblemKind::StackNotADirectory),
            _ => self.astray(&resolved, &path, &Why::StackDirectory, Some(ProblemKind::MissingStack))?,
        }
        Ok(())
    }

    /// Reads the configuration files of a module's directory.
    fn module(&mut self, directory: &str) -> Result<(), ReadError> {
        if !self.visited.insert(directory.to_owned()) {
            return Ok(());
        }
        for (file, facts) in self.ground.module(directory)?.iter() {
            self.facts(directory, file, facts)?;
        }
        Ok(())
    }

    fn facts(&mut self, directory: &str, file: &str, facts: &FileFacts) -> Result<(), ReadError> {
        if let Some((line, reason)) = &facts.broken {
            self.problem(file, ProblemKind::Unparsable { line: *line, reason: reason.clone() });
        }
        for call in &facts.calls {
            self.call(directory, file, call)?;
        }
        for read in &facts.reads {
            self.read(directory, file, read)?;
        }
        Ok(())
    }

    fn call(&mut self, directory: &str, file: &str, call: &Call) -> Result<(), ReadError> {
        let called_from = file.to_owned();
        let Some(path) = join(directory, enclosing(&call.source, call.literal)) else {
            self.problem(&call.source, ProblemKind::ModuleOutside { called_from });
            return Ok(());
        };
        let why = Why::Module { source: call.source.clone(), called_from: called_from.clone() };
        let resolved = self.follow(&path)?;
        match &resolved.place {
            Place::There { path: real, mode, id } if mode.is_tree() => {
                if self.holds_the_stack(real) {
                    self.own_files(real, &why)?;
                } else {
                    self.directory(real, *id, &why)?;
                }
                self.enter(&path, real, call.literal)?;
            }
            Place::There { .. } => self.problem(&path, ProblemKind::MissingModule { called_from }),
            _ => self.astray(&resolved, &path, &why, Some(ProblemKind::MissingModule { called_from }))?,
        }
        Ok(())
    }

    /// Queues a module; of a source that is not literal, every directory that it can mean.
    fn enter(&mut self, path: &str, real: &str, literal: bool) -> Result<(), ReadError> {
        if literal {
            self.queue.push_back(path.to_owned());
            return Ok(());
        }
        if self.holds_the_stack(real) {
            // Directories beside the stack are read that no entry covers, with whatever their links lead to.
            self.watched.everything();
        }
        let listing = self.ground.resolver.listing(real)?;
        for entry in listing.iter().flat_map(|listing| listing.iter()).filter(|entry| entry.is_tree()) {
            self.queue.push_back(joined(path, &entry.name.to_str_lossy()));
        }
        Ok(())
    }

    fn read(&mut self, directory: &str, file: &str, read: &Read) -> Result<(), ReadError> {
        let base = match read.base {
            Base::Module => directory.to_owned(),
            Base::Root => self.stack.clone(),
        };
        let why = match &read.function {
            Some(function) => Why::ReadBy { function: function.clone(), file: file.to_owned() },
            None => Why::MentionedIn { file: file.to_owned() },
        };
        let needed = if read.must_exist() { Needed::Yes } else { Needed::No };
        self.path(&base, read.place(), &why, needed)
    }

    /// Adds a file, or a whole directory.
    fn path(&mut self, base: &str, relative: &str, why: &Why, needed: Needed) -> Result<(), ReadError> {
        let only_mentioned = matches!(why, Why::MentionedIn { .. });
        let Some(path) = join(base, relative) else {
            if !only_mentioned {
                self.problem(relative, ProblemKind::Outside { named_by: why.to_string() });
            }
            return Ok(());
        };
        let resolved = self.follow(&path)?;
        match &resolved.place {
            // A string that names a directory above the stack says too little to take everything beside it in.
            Place::There { path: real, .. } if only_mentioned && self.holds_the_stack(real) => {}
            Place::There { path: real, mode, id } if mode.is_tree() => self.directory(real, *id, why)?,
            Place::There { path: real, mode, id } => self.file(real.clone(), *mode, *id, why)?,
            _ => {
                let missing = ProblemKind::MissingFile { named_by: why.to_string() };
                self.astray(&resolved, &path, why, (needed == Needed::Yes).then_some(missing))?;
            }
        }
        Ok(())
    }

    fn trigger(&mut self, glob: &str) -> Result<(), ReadError> {
        let why = Why::Trigger { glob: glob.to_owned() };
        match self.ground.trigger(glob)?.as_ref() {
            Err(reason) => self.problem(glob, ProblemKind::BadTrigger { reason: reason.clone() }),
            Ok(matches) => {
                self.watched.below(&matches.below);
                for found in &matches.found {
                    self.add(found.path.clone(), found.content(), why.clone());
                }
            }
        }
        Ok(())
    }

    /// Whether a directory is the stack's own or above it.
    fn holds_the_stack(&self, directory: &str) -> bool {
        let stack = self.stack.as_str();
        directory.is_empty()
            || stack == directory
            || stack.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Adds everything below a directory but the directories of other stacks.
    fn directory(&mut self, path: &str, tree: ObjectId, why: &Why) -> Result<(), ReadError> {
        let (id, without) = self.ground.without_other_stacks(path, tree)?;
        let content = Content::Directory { id, tree, without: without.as_ref().clone() };
        if !self.add(path.to_owned(), content, why.clone()) {
            return Ok(());
        }
        for special in self.ground.specials(tree)?.iter() {
            let place = joined(path, &special.path);
            if is_below_any(&place, &without) {
                continue;
            }
            match special.kind {
                SpecialKind::Link => self.link(&place)?,
                SpecialKind::Submodule => self.problem(&place, ProblemKind::Submodule),
                SpecialKind::LfsRules => {}
            }
        }
        for pointer in self.ground.lfs_pointers(tree)?.iter() {
            let place = joined(path, pointer);
            if !is_below_any(&place, &without) {
                self.problem(&place, ProblemKind::LfsPointer);
            }
        }
        Ok(())
    }

    /// Adds the files that lie directly in a directory.
    fn own_files(&mut self, directory: &str, why: &Why) -> Result<(), ReadError> {
        let Some(listing) = self.ground.resolver.listing(directory)? else { return Ok(()) };
        self.watched.beside(directory);
        for entry in listing.iter().filter(|entry| !entry.is_tree()) {
            let path = joined(directory, &entry.name.to_str_lossy());
            match entry.mode.kind() {
                EntryKind::Link => {
                    let content = Content::File { id: entry.id, mode: entry.mode.value() };
                    self.add(path.clone(), content, why.clone());
                    self.link(&path)?;
                }
                EntryKind::Commit => self.problem(&path, ProblemKind::Submodule),
                _ => self.file(path, entry.mode, entry.id, why)?,
            }
        }
        Ok(())
    }

    fn file(&mut self, path: String, mode: EntryMode, id: ObjectId, why: &Why) -> Result<(), ReadError> {
        if self.ground.is_lfs_pointer(id)? {
            self.problem(&path, ProblemKind::LfsPointer);
        }
        self.add(path, Content::File { id, mode: mode.value() }, why.clone());
        Ok(())
    }

    /// Adds what a link leads to.
    fn link(&mut self, link: &str) -> Result<(), ReadError> {
        let why = Why::Link { link: link.to_owned() };
        let resolved = self.follow(link)?;
        match &resolved.place {
            Place::There { path, mode, id } if mode.is_tree() => self.directory(path, *id, &why)?,
            Place::There { path, mode, id } => self.file(path.clone(), *mode, *id, &why)?,
            _ => self.astray(&resolved, link, &why, None)?,
        }
        Ok(())
    }

    /// Where a path leads. Adds the links that are followed on the way.
    fn follow(&mut self, path: &str) -> Result<Rc<Resolved>, ReadError> {
        let resolved = self.ground.resolve(path)?;
        for link in &resolved.links {
            let content = Content::File { id: link.id, mode: EntryMode::from(EntryKind::Link).value() };
            self.add(link.path.clone(), content, Why::Link { link: path.to_owned() });
        }
        match &resolved.place {
            Place::There { path, mode, .. } if !mode.is_tree() => self.watched.below(path),
            Place::Missing { path } => self.watched.below(path),
            _ => {}
        }
        Ok(resolved)
    }

    /// Notes a path that leads to nothing in this repository: the link or submodule that is to blame, else `missing`.
    fn astray(
        &mut self,
        resolved: &Resolved,
        path: &str,
        why: &Why,
        missing: Option<ProblemKind>,
    ) -> Result<(), ReadError> {
        if let Place::Missing { path } = &resolved.place {
            self.add(path.clone(), Content::Missing, why.clone());
        }
        if let Place::Submodule { path } = &resolved.place {
            self.problem(path, ProblemKind::Submodule);
        } else if let Some(link) = self.ground.resolver.faulty(resolved)? {
            self.problem(&link.path.clone(), ProblemKind::FaultyLink(link));
        } else if let Some(missing) = missing {
            self.problem(path, missing);
        }
        Ok(())
    }

    fn problem(&mut self, path: &str, kind: ProblemKind) {
        self.problems.insert(ClosureProblem::new(path, kind));
    }

    /// Adds an entry, unless its path has one; says whether it did.
    fn add(&mut self, path: String, content: Content, why: Why) -> bool {
        if self.entries.contains_key(&path) {
            return false;
        }
        self.entries.insert(path.clone(), Entry { path, content, why });
        true
    }

    fn finish(mut self) -> (Closure, Watched) {
        let entries: Vec<Entry> = self.entries.into_values().collect();
        for entry in uncovered(&entries) {
            self.watched.below(&entry.path);
        }
        let digest = digest(&entries);
        let tree = self.ground.resolver.root;
        let problems = self.problems.into_iter().collect();
        (Closure { tree, entries, digest, problems }, self.watched)
    }
}
