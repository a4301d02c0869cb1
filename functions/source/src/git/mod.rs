//! How Git is reached: what the function asks of a repository, and nothing more. [`yuba_git::fetch::Fetcher`] answers
//! from real repositories; a simulation may answer from memory.

pub(crate) mod fetcher;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use yuba_core::id::{ClosureDigest, CommitId, Revision, StackName, TreeId};
use yuba_core::manifest::ManifestFile;
use yuba_core::people::Identity;
use yuba_core::source::{CommitFacts, Reason};
use yuba_core::spec::SourceSpec;
use yuba_core::state_address::CodeBackend;
use yuba_git::closure::{Before, StackPaths};
use yuba_git::fetch::Credentials;
use yuba_ports::{Blobs, PortError, PutMode};

use crate::backoff::Trouble;

/// Where commits come from. What is wrong with a repository is a [`Trouble`]; an error says that trying again helps.
#[async_trait]
pub trait Git: fmt::Debug + Send + Sync {
    /// Fetches what a source refers to, into the cache at `cache`.
    async fn fetch(
        &self,
        cache: &Path,
        spec: SourceSpec,
        credentials: Credentials,
    ) -> Result<Result<Arc<dyn Checkout>, Trouble>, PortError>;
}

/// A commit that was fetched, to read from.
#[async_trait]
pub trait Checkout: Send + Sync {
    /// The commit, under the name of the reference that leads to it.
    fn revision(&self) -> &Revision;

    /// Its tree.
    fn tree(&self) -> &TreeId;

    /// It, as people see it.
    fn commit(&self) -> CommitFacts;

    /// Every author and committer of what came after an earlier commit, as far back as history is at hand; of the commit
    /// alone where none is named.
    async fn people_since(&self, earlier: Option<&CommitId>) -> Result<BTreeSet<Identity>, PortError>;

    /// Finds the stacks of the source whose closure differs.
    async fn closures(&self, work: Work) -> Result<Result<Worked, Trouble>, PortError>;

    /// What the code in each of these directories names as its backend.
    async fn backends(
        &self,
        paths: BTreeMap<StackName, String>,
    ) -> Result<Result<BTreeMap<StackName, CodeBackend>, Trouble>, PortError>;

    /// Packs a tree, this or one fetched before, and stores it as its artifact, and beside it what was left out.
    async fn store(&self, tree: &TreeId, blobs: &dyn Blobs, mode: PutMode) -> Result<(), PortError>;

    /// The manifests below a directory (empty for the root).
    async fn manifests(&self, directory: &str) -> Result<Result<Vec<ManifestFile>, Trouble>, PortError>;
}

/// What closures are worked out from, besides the tree.
#[derive(Debug)]
pub struct Work {
    /// All stacks of the source.
    pub stacks: BTreeMap<StackName, StackPaths>,
    /// What is recorded of the tree that was seen before.
    pub before: Before,
    /// The index that was stored last; only spares work.
    pub index: Option<Vec<u8>>,
}

/// What came out.
#[derive(Debug)]
pub struct Worked {
    /// The closures of all stacks that have another digest now, or none before. Others may be among them.
    pub closures: BTreeMap<StackName, SeenClosure>,
    /// What differs from the tree that was seen before, by stack; `None` where that tree is not at hand any more.
    pub changed: Option<BTreeMap<StackName, Vec<Reason>>>,
    /// The index to store.
    pub index: Vec<u8>,
}

/// A stack's closure, as far as a look compares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeenClosure {
    /// Its digest.
    pub digest: ClosureDigest,
    /// Why the tree cannot be planned for it.
    pub problems: Vec<String>,
    /// What is odd and stands against no plan.
    pub notices: Vec<String>,
}
