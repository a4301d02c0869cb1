//! What is done in a Git cache: fetching, working out closures, packing a tree. It blocks, so it runs on its own threads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use yuba_core::id::{SourceName, StackName, TreeId};
use yuba_core::spec::SourceSpec;
use yuba_git::Repository;
use yuba_git::artifact::{self, PackError};
use yuba_git::closure::{Before, ChangedPath, Closures, Index, IndexError, StackPaths};
use yuba_git::fetch::{Credentials, Fetched};
use yuba_ports::PortError;

use crate::backoff::{Mend, Trouble};
use crate::blocking::blocking;
use crate::settings::SourceSettings;

/// Where a source's cache lies.
pub(crate) fn cache(settings: &SourceSettings, source: &SourceName) -> PathBuf {
    settings.cache_dir.join("sources").join(&source.namespace).join(&source.name)
}

/// Fetches what a source refers to.
pub(crate) async fn fetch(
    settings: &SourceSettings,
    cache: PathBuf,
    spec: SourceSpec,
    credentials: Credentials,
) -> Result<Result<Fetched, Trouble>, PortError> {
    let fetcher = settings.fetcher.clone();
    blocking(move || fetcher.fetch(&cache, &spec, &credentials).map_err(Trouble::from)).await
}

/// The trees that closures are worked out for, and what is known from before.
pub(crate) struct Work {
    /// Where to read from.
    pub(crate) repository: Repository,
    /// All stacks of the source.
    pub(crate) stacks: BTreeMap<StackName, StackPaths>,
    /// The tree that was seen before, and what of it is recorded.
    pub(crate) before: Option<Before>,
    /// The tree that is seen now.
    pub(crate) new: TreeId,
    /// A stored index; only spares work.
    pub(crate) index: Option<Vec<u8>>,
}

/// What came out.
pub(crate) struct Worked {
    /// The closures now.
    pub(crate) closures: Closures,
    /// What differs from the tree that was seen before, by stack; `None` where that tree is not at hand any more.
    pub(crate) changed: Option<BTreeMap<StackName, Vec<ChangedPath>>>,
    /// The index to store.
    pub(crate) index: Vec<u8>,
}

/// Works out closures.
pub(crate) async fn closures(work: Work) -> Result<Result<Worked, Trouble>, PortError> {
    let done = blocking(move || work_out(&work)).await?;
    Ok(done.map_err(|error| Trouble { message: error.to_string(), mend: Mend::Time }))
}

fn work_out(work: &Work) -> Result<Worked, IndexError> {
    let mut index = work.index.as_deref().map(Index::from_bytes).unwrap_or_default();
    let closures = index.closures(&work.repository, &work.new, &work.stacks)?;
    let changed = work.before.as_ref().and_then(|before| {
        // A cache that was lost has fetched the new revision alone: then only the reasons are missing.
        index.affected_since(&work.repository, before, &closures, &work.stacks).ok()
    });
    Ok(Worked { closures, changed, index: index.to_bytes() })
}

/// A packed tree, in a file that vanishes with this value.
pub(crate) struct Packed {
    file: tempfile::NamedTempFile,
}

impl Packed {
    /// The file.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }
}

/// Packs a tree into a file; what must not be packed is refused with the reason.
pub(crate) async fn pack(fetched: &Fetched) -> Result<Result<Packed, String>, PortError> {
    let (repository, tree) = (fetched.repository.clone(), fetched.tree.clone());
    let failed = |error: std::io::Error| {
        PortError::transient("the artifact cannot be written to a temporary file").because(error)
    };
    blocking(move || {
        let mut file = tempfile::NamedTempFile::new().map_err(failed)?;
        match artifact::pack(&repository, &tree, file.as_file_mut()) {
            Ok(_) => Ok(Ok(Packed { file })),
            Err(refused @ PackError::LinkOutside { .. }) => Ok(Err(refused.to_string())),
            Err(error) => Err(PortError::transient(format!("tree {tree} cannot be packed")).because(error)),
        }
    })
    .await?
}
