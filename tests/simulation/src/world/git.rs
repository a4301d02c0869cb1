//! A Git host in memory: repositories with branches, commits as maps from path to text, force-pushes, deleted branches.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use sha2::{Digest, Sha256};
use yuba_core::id::{ClosureDigest, CommitId, Revision, StackName, TreeId};
use yuba_core::job::artifact_object;
use yuba_core::manifest::ManifestFile;
use yuba_core::people::Identity;
use yuba_core::source::{CommitFacts, Reason};
use yuba_core::spec::{GitReference, SourceSpec};
use yuba_core::state_address::CodeBackend;
use yuba_git::closure::StackPaths;
use yuba_git::fetch::Credentials;
use yuba_ports::{Blobs, PortError, PutMode};
use yuba_source::{Checkout, Git, Mend, SeenClosure, Trouble, Work, Worked};

use super::World;
use super::gate::gate;
use crate::faults::Fault;
use crate::lane::Lane;

/// Texts by path.
pub(crate) type Files = BTreeMap<String, String>;

/// All repositories, by URL.
#[derive(Debug, Default)]
pub(crate) struct GitHost {
    branches: BTreeMap<(String, String), Commit>,
    trees: BTreeMap<TreeId, Arc<Files>>,
    /// Every commit that a branch ever led to, oldest first.
    pub(crate) pushed: Vec<(String, Commit)>,
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commit {
    pub(crate) id: CommitId,
    pub(crate) tree: TreeId,
    pub(crate) author: String,
    pub(crate) subject: String,
}

impl GitHost {
    /// Commits files on top of nothing that matters: what is compared are trees. `salt` tells equal trees apart.
    pub(crate) fn commit(&mut self, url: &str, branch: &str, files: Files, by: (&str, u64)) -> Commit {
        let (author, salt) = by;
        let tree = tree_id(&files);
        let id = hex_id(&format!("commit {url} {tree} {salt}"));
        let commit = Commit {
            id: parsed(&id),
            tree: tree.clone(),
            author: author.to_owned(),
            subject: format!("change {salt}"),
        };
        self.trees.insert(tree, Arc::new(files));
        self.lead(url, branch, commit.clone());
        commit
    }

    /// Lets a branch lead to a commit, wherever it led before.
    pub(crate) fn lead(&mut self, url: &str, branch: &str, commit: Commit) {
        self.pushed.push((url.to_owned(), commit.clone()));
        self.branches.insert((url.to_owned(), branch.to_owned()), commit);
    }

    /// Deletes a branch.
    pub(crate) fn delete(&mut self, url: &str, branch: &str) -> Option<Commit> {
        self.branches.remove(&(url.to_owned(), branch.to_owned()))
    }

    /// Where a branch leads.
    pub(crate) fn head(&self, url: &str, branch: &str) -> Option<&Commit> {
        self.branches.get(&(url.to_owned(), branch.to_owned()))
    }

    /// The files of a tree.
    pub(crate) fn files(&self, tree: &TreeId) -> Option<Arc<Files>> {
        self.trees.get(tree).cloned()
    }
}

#[expect(clippy::expect_used, reason = "forty hexadecimal digits are an id")]
fn parsed<T: std::str::FromStr<Err: fmt::Debug>>(digits: &str) -> T {
    digits.parse().expect("forty hexadecimal digits are an id")
}

fn hex_id(text: &str) -> String {
    hex::encode(Sha256::digest(text)).chars().take(40).collect()
}

/// Files as one text, equal for equal files.
fn written(files: &Files) -> String {
    files.iter().flat_map(|(path, text)| [path, "\0", text, "\0"]).collect()
}

fn tree_id(files: &Files) -> TreeId {
    parsed(&hex_id(&written(files)))
}

/// What a stack's plan can depend on in a tree: its directory, and the modules that its files name.
pub(crate) fn closure(files: &Files, path: &str) -> Files {
    let mut all = Files::new();
    let mut open: BTreeSet<String> = BTreeSet::from([path.to_owned()]);
    let mut done: BTreeSet<String> = BTreeSet::new();
    while let Some(directory) = open.pop_first() {
        let prefix = format!("{directory}/");
        for (path, text) in files.iter().filter(|(path, _)| path.starts_with(&prefix)) {
            all.insert(path.clone(), text.clone());
            let modules = text.lines().filter_map(|line| line.strip_prefix("module "));
            open.extend(modules.filter(|module| !done.contains(*module)).map(str::to_owned));
        }
        done.insert(directory);
    }
    all
}

/// What a look sees of a stack in a tree.
pub(crate) fn seen(files: &Files, path: &str) -> SeenClosure {
    let closure = closure(files, path);
    let prefix = format!("{path}/");
    let there = files.keys().any(|file| file.starts_with(&prefix));
    let problems = if there { Vec::new() } else { vec![format!("the directory {path} does not exist")] };
    SeenClosure { digest: ClosureDigest::of(written(&closure).as_bytes()), problems, notices: Vec::new() }
}

impl fmt::Debug for World {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a simulated world")
    }
}

#[async_trait]
impl Git for World {
    async fn fetch(
        &self,
        _cache: &Path,
        spec: SourceSpec,
        _credentials: Credentials,
    ) -> Result<Result<Arc<dyn Checkout>, Trouble>, PortError> {
        gate().await;
        let mut state = self.state();
        let fault = state.fault(Lane::GitHost, super::Call::Any, || format!("fetches {}", spec.url));
        match fault {
            Some(Fault::Throttled | Fault::Failed | Fault::AnswerLost) => {
                return Ok(Err(Trouble { message: "the host does not answer".to_owned(), mend: Mend::Time }));
            }
            Some(Fault::Refused) => {
                return Ok(Err(Trouble { message: "access is denied".to_owned(), mend: Mend::People }));
            }
            Some(Fault::Conflict) | None => {}
        }
        let branch = match &spec.reference {
            GitReference::Branch(branch) => branch.clone(),
            _ => "main".to_owned(),
        };
        let Some(commit) = state.git.head(&spec.url, &branch).cloned() else {
            let message = format!("there is no branch {branch}");
            return Ok(Err(Trouble { message, mend: Mend::People }));
        };
        let files = state.git.files(&commit.tree).unwrap_or_default();
        let revision =
            Revision { reference: spec.reference.as_revision_name().to_owned(), commit: commit.id.clone() };
        Ok(Ok(Arc::new(CheckedOut { world: self.clone(), revision, commit, files })))
    }
}

/// A commit that was fetched.
struct CheckedOut {
    world: World,
    revision: Revision,
    commit: Commit,
    files: Arc<Files>,
}

#[async_trait]
impl Checkout for CheckedOut {
    fn revision(&self) -> &Revision {
        &self.revision
    }

    fn tree(&self) -> &TreeId {
        &self.commit.tree
    }

    fn commit(&self) -> CommitFacts {
        CommitFacts {
            id: self.commit.id.clone(),
            author: format!("{0} <{0}@example.com>", self.commit.author),
            subject: self.commit.subject.clone(),
        }
    }

    async fn people_since(&self, _: Option<&CommitId>) -> Result<BTreeSet<Identity>, PortError> {
        Ok(BTreeSet::from([Identity::email(&format!("{}@example.com", self.commit.author))]))
    }

    async fn closures(&self, work: Work) -> Result<Result<Worked, Trouble>, PortError> {
        let see = |(name, paths): (&StackName, &StackPaths)| (name.clone(), seen(&self.files, &paths.path));
        let before = &work.before.digests;
        let mut closures: BTreeMap<StackName, SeenClosure> = work.stacks.iter().map(see).collect();
        closures.retain(|name, closure| before.get(name) != Some(&closure.digest));
        let changed = work.before.tree.as_ref().map(|_| {
            let known = closures.keys().filter(|name| before.contains_key(*name));
            known.map(|name| (name.clone(), vec![a_path()])).collect()
        });
        Ok(Ok(Worked { closures, changed, index: b"nothing to spare".to_vec() }))
    }

    async fn backends(
        &self,
        paths: BTreeMap<StackName, String>,
    ) -> Result<Result<BTreeMap<StackName, CodeBackend>, Trouble>, PortError> {
        Ok(Ok(paths.into_keys().map(|name| (name, CodeBackend::NotNamed)).collect()))
    }

    async fn store(&self, tree: &TreeId, blobs: &dyn Blobs, mode: PutMode) -> Result<(), PortError> {
        blobs.put(&artifact_object(tree), tree.as_str().as_bytes(), mode).await.map(drop)
    }

    async fn manifests(&self, directory: &str) -> Result<Result<Vec<ManifestFile>, Trouble>, PortError> {
        self.world.call(Lane::GitHost, || "reads manifests".to_owned(), async { Ok(()) }).await?;
        let prefix = format!("{directory}/");
        let files = self.files.iter().filter(|(path, _)| path.starts_with(&prefix));
        Ok(Ok(files.map(|(path, text)| ManifestFile { path: path.clone(), text: text.clone() }).collect()))
    }
}

fn a_path() -> Reason {
    let (path, change) = ("main.tf".to_owned(), "changed".to_owned());
    Reason::Path { path, change, because: "stack directory".to_owned() }
}
