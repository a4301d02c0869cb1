//! Real repositories. What is done in a Git cache blocks, so it runs on its own threads.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use yuba_core::artifact::ArtifactReport;
use yuba_core::id::{CommitId, Revision, SourceName, StackName, TreeId};
use yuba_core::job::{artifact_object, artifact_report_object};
use yuba_core::manifest::{ManifestFile, is_manifest_path};
use yuba_core::people::Identity;
use yuba_core::source::{CommitFacts, Reason};
use yuba_core::spec::SourceSpec;
use yuba_core::state_address::CodeBackend;
use yuba_git::artifact;
use yuba_git::closure::{ChangedPath, Closure, Index, IndexError, News};
use yuba_git::fetch::{Credentials, Fetched, Fetcher};
use yuba_git::history::{Change, FileEntry};
use yuba_git::root_module::RootModule;
use yuba_git::{Person, ReadError, Repository};
use yuba_ports::{Blobs, PortError, PutMode};

use super::{Checkout, Git, SeenClosure, Work, Worked};
use crate::backoff::{Mend, Trouble};
use crate::blocking::blocking;
use crate::settings::SourceSettings;

/// How many notices are kept of a closure.
const MOST_NOTICES: usize = 20;

/// Where a source's cache lies.
pub(crate) fn cache(settings: &SourceSettings, source: &SourceName) -> PathBuf {
    settings.cache_dir.join("sources").join(&source.namespace).join(&source.name)
}

#[async_trait]
impl Git for Fetcher {
    async fn fetch(
        &self,
        cache: &Path,
        spec: SourceSpec,
        credentials: Credentials,
    ) -> Result<Result<Arc<dyn Checkout>, Trouble>, PortError> {
        let (git, cache) = (self.clone(), cache.to_owned());
        let fetched = blocking(move || Self::fetch(&git, &cache, &spec, &credentials)).await?;
        Ok(fetched.map(|fetched| Arc::new(fetched) as Arc<dyn Checkout>).map_err(Trouble::from))
    }
}

#[async_trait]
impl Checkout for Fetched {
    fn revision(&self) -> &Revision {
        &self.revision
    }

    fn tree(&self) -> &TreeId {
        &self.tree
    }

    fn commit(&self) -> CommitFacts {
        let author = self.commit.authors.first().unwrap_or(&self.commit.committer);
        CommitFacts {
            id: self.revision.commit.clone(),
            author: format!("{} <{}>", author.name, author.email),
            subject: self.commit.subject.clone(),
        }
    }

    async fn people_since(&self, earlier: Option<&CommitId>) -> Result<BTreeSet<Identity>, PortError> {
        let (repository, new) = (self.repository.clone(), self.revision.commit.clone());
        let own = self.commit.authors.iter().chain([&self.commit.committer]).cloned();
        let mut people: BTreeSet<Person> = own.collect();
        if let Some(old) = earlier.cloned() {
            // The earlier commit may be gone after a forced push: then the rest of what it brought is not known.
            let between = blocking(move || repository.people_between(&old, &new)).await?;
            people.extend(between.unwrap_or_default());
        }
        Ok(people.iter().map(|person| Identity::email(&person.email)).collect())
    }

    async fn closures(&self, work: Work) -> Result<Result<Worked, Trouble>, PortError> {
        let (repository, tree) = (self.repository.clone(), self.tree.clone());
        let done = blocking(move || work_out(&repository, &tree, &work)).await?;
        Ok(done.map_err(|error| Trouble { message: error.to_string(), mend: Mend::Time }))
    }

    async fn backends(
        &self,
        paths: BTreeMap<StackName, String>,
    ) -> Result<Result<BTreeMap<StackName, CodeBackend>, Trouble>, PortError> {
        let (repository, tree) = (self.repository.clone(), self.tree.clone());
        let read = blocking(move || backends(&repository, &tree, paths)).await?;
        Ok(read.map_err(|error| Trouble { message: error.to_string(), mend: Mend::Time }))
    }

    async fn store(&self, tree: &TreeId, blobs: &dyn Blobs, mode: PutMode) -> Result<(), PortError> {
        let (repository, packed) = (self.repository.clone(), tree.clone());
        let (file, report) = blocking(move || pack(&repository, &packed)).await??;
        let report = serde_json::to_vec(&report).map_err(|error| {
            PortError::permanent("what was left out of an artifact cannot be written").because(error)
        })?;
        // First, so that no artifact is without it.
        blobs.put(&artifact_report_object(tree), &report, PutMode::Replace).await?;
        blobs.put_file(&artifact_object(tree), file.path(), mode).await.map(drop)
    }

    async fn manifests(&self, directory: &str) -> Result<Result<Vec<ManifestFile>, Trouble>, PortError> {
        let (repository, tree, directory) =
            (self.repository.clone(), self.tree.clone(), directory.to_owned());
        let read = blocking(move || manifest_files(&repository, &tree, &directory)).await?;
        Ok(read.map_err(|error| Trouble { message: error.to_string(), mend: Mend::Time }))
    }
}

fn work_out(repository: &Repository, tree: &TreeId, work: &Work) -> Result<Worked, IndexError> {
    let mut index = work.index.as_deref().map(Index::from_bytes).unwrap_or_default();
    let News { closures, changed } = index.since(repository, &work.before, tree, &work.stacks)?;
    let reasons = |paths: Vec<ChangedPath>| paths.iter().map(reason).collect();
    Ok(Worked {
        closures: closures.by_stack.into_iter().map(|(name, closure)| (name, seen(&closure))).collect(),
        changed: changed
            .map(|changed| changed.into_iter().map(|(name, paths)| (name, reasons(paths))).collect()),
        index: index.to_bytes(),
    })
}

fn seen(closure: &Closure) -> SeenClosure {
    let fatal = closure.problems.iter().filter(|problem| problem.is_fatal());
    let problems = fatal.map(ToString::to_string).collect();
    SeenClosure { digest: closure.digest, problems, notices: notices(closure) }
}

/// What is odd in a closure and stands against no plan.
pub(crate) fn notices(closure: &Closure) -> Vec<String> {
    let odd = closure.problems.iter().filter(|problem| !problem.is_fatal());
    odd.take(MOST_NOTICES).map(ToString::to_string).collect()
}

fn backends(
    repository: &Repository,
    tree: &TreeId,
    paths: BTreeMap<StackName, String>,
) -> Result<BTreeMap<StackName, CodeBackend>, ReadError> {
    let read = |(name, path): (StackName, String)| {
        let module = RootModule::of(repository, tree, &path)?;
        Ok((name, module.map_or(CodeBackend::Unseen, |module| module.code_backend())))
    };
    paths.into_iter().map(read).collect()
}

/// Packs a tree into a file that vanishes with the value, and says what was left out.
fn pack(
    repository: &Repository,
    tree: &TreeId,
) -> Result<(tempfile::NamedTempFile, ArtifactReport), PortError> {
    let mut file = tempfile::NamedTempFile::new().map_err(|error| {
        PortError::transient("the artifact cannot be written to a temporary file").because(error)
    })?;
    let packed = artifact::pack(repository, tree, file.as_file_mut());
    let (_, report) = packed
        .map_err(|error| PortError::transient(format!("tree {tree} cannot be packed")).because(error))?;
    Ok((file, report))
}

fn manifest_files(
    repository: &Repository,
    tree: &TreeId,
    directory: &str,
) -> Result<Vec<ManifestFile>, ReadError> {
    let below = |path: &str| match directory {
        "" => is_manifest_path(path),
        _ => {
            path.strip_prefix(directory).and_then(|rest| rest.strip_prefix('/')).is_some_and(is_manifest_path)
        }
    };
    let entries = repository.files(tree, below)?;
    let read = |entry: FileEntry| Ok(ManifestFile::new(entry.path, repository.bytes(entry.id)?));
    entries.into_iter().map(read).collect()
}

/// A changed path as a reason for people.
pub(crate) fn reason(changed: &ChangedPath) -> Reason {
    let change = match changed.change {
        Change::Added => "added",
        Change::Modified => "changed",
        Change::Deleted => "removed",
        Change::Reached => "reached",
        Change::LeftBehind => "left behind",
    };
    Reason::Path { path: shown(&changed.path), change: change.to_owned(), because: changed.why.to_string() }
}

/// A path as people see it: the root is `.`.
pub(crate) fn shown(path: &str) -> String {
    if path.is_empty() { ".".to_owned() } else { path.to_owned() }
}
