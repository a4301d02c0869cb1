//! The files of a repository, each after a line `=== path`; a link's path ends in ` -> ` and what it names. `=== stack path`,
//! `=== vars path` and `=== trigger glob` say what is a stack, and what its manifest names; the root is always one.

use std::collections::BTreeMap;
use std::fs;

use gix::ObjectId;
use gix::objs::tree::{Entry, EntryKind};
use yuba_core::id::{StackName, TreeId};
use yuba_git::Repository;
use yuba_git::artifact::pack;
use yuba_git::closure::{Before, Index, StackPaths};
use yuba_git::root_module::RootModule;
use yuba_runner::archive::{Bounds, unpack_within};

use crate::sections::sections;

/// As many as a small input can hold.
const BOUNDS: Bounds = Bounds { entries: 100_000, names: 1 << 20, bytes: 1 << 20 };
/// Deeper trees are refused by whoever reads them; building them here would exhaust the stack first.
const DEEPEST: usize = 600;

/// Works out the closures of its stacks, reads its root module, packs and unpacks it.
pub fn target(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut tree = Tree::default();
    let mut stacks = BTreeMap::from([(StackName::new("default", "root"), StackPaths::default())]);
    for (head, body) in sections(&text) {
        match head.split_once(' ').unwrap_or((head, "")) {
            ("stack", path) => {
                let paths = StackPaths { path: path.to_owned(), ..StackPaths::default() };
                stacks.insert(StackName::new("default", path), paths);
            }
            ("vars", path) => stacks.values_mut().for_each(|stack| stack.tf_vars_files.push(path.to_owned())),
            ("trigger", glob) => stacks.values_mut().for_each(|stack| stack.triggers.push(glob.to_owned())),
            (_, _) => match head.split_once(" -> ") {
                Some((path, named)) => tree.put(path, EntryKind::Link, named),
                None => tree.put(head, EntryKind::Blob, body),
            },
        }
    }
    let directory = tempfile::tempdir().expect("a folder for temporary files");
    let written = gix::init_bare(directory.path()).expect("a new repository");
    let id = tree.write(&written).to_string().parse().expect("an object's id is one of a tree");
    let repository = Repository::open(directory.path()).expect("the repository is there");
    look(&repository, &id, &stacks);
    carry(&repository, &id);
}

fn look(repository: &Repository, tree: &TreeId, stacks: &BTreeMap<StackName, StackPaths>) {
    let mut index = Index::new();
    let Ok(closures) = index.closures(repository, tree, stacks) else { return };
    let since = Index::from_bytes(&index.to_bytes()).since(repository, &Before::default(), tree, stacks);
    let since = since.expect("what was read once can be read again").closures;
    assert_eq!(closures.by_stack.len(), stacks.len(), "a stack has no closure");
    for (name, closure) in &closures.by_stack {
        let again = since.by_stack.get(name).map(|closure| closure.digest);
        assert_eq!(again, Some(closure.digest), "{name} has another closure once something is known");
        closure.problems.iter().for_each(|problem| drop(problem.to_string()));
    }
    for paths in stacks.values() {
        drop(RootModule::of(repository, tree, &paths.path).map(|module| module.map(|it| it.code_backend())));
    }
}

/// What is packed can be unpacked, but for names that lead elsewhere.
fn carry(repository: &Repository, tree: &TreeId) {
    let Ok((packed, _)) = pack(repository, tree, Vec::new()) else { return };
    let around = tempfile::tempdir().expect("a folder for temporary files");
    let inside = around.path().join("inside");
    fs::create_dir(&inside).expect("a new folder");
    drop(unpack_within(BOUNDS, packed.as_slice(), &inside));
    let beside = fs::read_dir(around.path()).expect("the folder is there").count();
    assert_eq!(beside, 1, "something was written outside");
}

/// A tree that is to be written.
#[derive(Default)]
struct Tree {
    files: BTreeMap<String, (EntryKind, String)>,
    folders: BTreeMap<String, Tree>,
}

impl Tree {
    /// Puts a file where its path says, unless Git could not hold a name in it.
    fn put(&mut self, path: &str, kind: EntryKind, text: &str) {
        if path.contains('\0') {
            return;
        }
        let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).take(DEEPEST).collect();
        let Some(name) = parts.pop() else { return };
        let mut folder = self;
        for part in parts {
            folder = folder.folders.entry(part.to_owned()).or_default();
        }
        folder.files.insert(name.to_owned(), (kind, text.to_owned()));
    }

    fn write(&self, repository: &gix::Repository) -> ObjectId {
        let files = self.files.iter().filter(|(name, _)| !self.folders.contains_key(*name));
        let files = files.map(|(name, (kind, text))| {
            let id = repository.write_blob(text).expect("a folder can be written to").detach();
            Entry { mode: (*kind).into(), filename: name.as_str().into(), oid: id }
        });
        let folders = self.folders.iter().map(|(name, folder)| Entry {
            mode: EntryKind::Tree.into(),
            filename: name.as_str().into(),
            oid: folder.write(repository),
        });
        let mut entries: Vec<Entry> = files.chain(folders).collect();
        entries.sort();
        repository.write_object(gix::objs::Tree { entries }).expect("a folder can be written to").detach()
    }
}
