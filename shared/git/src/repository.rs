//! A Git repository that is read: a source's bare cache, or a repository that a person already has.
//!
//! Invariants: nothing is written and no lock is taken here; no configuration outside the repository is read.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gix::ObjectId;
use gix::bstr::ByteSlice;
use yuba_core::id::{CommitId, InvalidId, TreeId};

/// Bytes of decoded objects that one reader keeps at hand.
const OBJECT_CACHE: usize = 32 * 1024 * 1024;

/// A repository that objects are read from. Cheap to clone; may be used from several threads.
#[derive(Clone)]
pub struct Repository {
    inner: Arc<gix::ThreadSafeRepository>,
}

impl fmt::Debug for Repository {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Repository").field(&self.git_dir()).finish()
    }
}

/// Why something could not be read from a repository.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// There is no repository that can be read.
    #[error("no Git repository at {}: {reason}", path.display())]
    Open {
        /// Where it was looked for.
        path: PathBuf,
        /// What was wrong.
        reason: String,
    },
    /// An object is missing or damaged.
    #[error("cannot read object {id}: {reason}")]
    Object {
        /// The object's id.
        id: String,
        /// What was wrong.
        reason: String,
    },
    /// A name could not be resolved to a commit.
    #[error("`{name}` names no commit: {reason}")]
    Name {
        /// What was looked up.
        name: String,
        /// What was wrong.
        reason: String,
    },
    /// An object id that is not SHA-1.
    #[error(transparent)]
    Id(#[from] InvalidId),
}

impl ReadError {
    pub(crate) fn object(id: impl fmt::Display, reason: impl fmt::Display) -> Self {
        Self::Object { id: id.to_string(), reason: reason.to_string() }
    }
}

/// Somebody named in a commit.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Person {
    /// The name; not proven by anything.
    pub name: String,
    /// The e-mail address; not proven by anything.
    pub email: String,
}

/// What is known of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Its id.
    pub id: CommitId,
    /// The tree it names.
    pub tree: TreeId,
    /// Its parents, in order.
    pub parents: Vec<CommitId>,
    /// The author, then everybody in `Co-authored-by` trailers.
    pub authors: Vec<Person>,
    /// The committer.
    pub committer: Person,
    /// The first line of the message.
    pub subject: String,
    /// When it was committed, in milliseconds since 1970 UTC, as the committer's clock said.
    pub time_ms: i64,
}

impl Repository {
    /// Opens the repository whose `.git` directory, or bare directory, is exactly `path`.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let opened = gix::open::Options::isolated().open_path_as_is(true).open(path);
        opened.map(Self::wrap).map_err(|error| open_error(path, &error))
    }

    /// Finds the repository that `path` lies in. Also where its files belong to another user: nothing in it is
    /// executed and nothing is written.
    pub fn discover(path: &Path) -> Result<Self, ReadError> {
        let options = gix::open::Options::isolated;
        let trust = gix::sec::trust::Mapping { full: options(), reduced: options() };
        gix::ThreadSafeRepository::discover_opts(path, gix::discover::upwards::Options::default(), trust)
            .map(Self::wrap)
            .map_err(|error| open_error(path, &error))
    }

    fn wrap(inner: gix::ThreadSafeRepository) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// The repository's `.git` directory, or the bare directory itself.
    pub fn git_dir(&self) -> PathBuf {
        self.inner.to_thread_local().git_dir().to_owned()
    }

    /// The directory that files are checked out into, where there is one.
    pub fn work_dir(&self) -> Option<PathBuf> {
        self.inner.to_thread_local().workdir().map(Path::to_owned)
    }

    /// A reader for one thread, with caches of its own.
    pub(crate) fn reader(&self) -> gix::Repository {
        let mut local = self.inner.to_thread_local();
        local.object_cache_size_if_unset(OBJECT_CACHE);
        local
    }

    /// Reads a commit.
    pub fn commit(&self, id: &CommitId) -> Result<Commit, ReadError> {
        read_commit(&self.reader(), object_id(id.as_str())?)
    }

    /// Whether nothing was committed yet: `HEAD` names a branch that does not exist.
    pub fn is_unborn(&self) -> Result<bool, ReadError> {
        let local = self.reader();
        let head = local.head();
        let head =
            head.map_err(|error| ReadError::Name { name: "HEAD".to_owned(), reason: error.to_string() })?;
        Ok(head.is_unborn())
    }

    /// The commit that a name (`HEAD`, `main`, `v1.2`, `HEAD~3`, an id or its beginning) leads to.
    pub fn resolve(&self, name: &str) -> Result<CommitId, ReadError> {
        let failed = |reason: String| ReadError::Name { name: name.to_owned(), reason };
        let local = self.reader();
        let found = local.rev_parse_single(name).map_err(|error| failed(error.to_string()))?;
        let object = found.object().map_err(|error| failed(error.to_string()))?;
        let commit = object.peel_to_commit().map_err(|error| failed(error.to_string()))?;
        Ok(commit.id().to_string().parse()?)
    }
}

/// Whether a repository that could not be opened says that its ids are not SHA-1.
fn uses_sha256(path: &Path) -> bool {
    let says = |file: PathBuf| {
        let text = std::fs::read_to_string(file).unwrap_or_default().to_ascii_lowercase();
        let mut settings = text.lines().filter_map(|line| line.split_once('='));
        settings.any(|(name, value)| name.trim() == "objectformat" && value.trim() == "sha256")
    };
    path.ancestors().any(|above| says(above.join(".git/config"))) || says(path.join("config"))
}

fn open_error(path: &Path, error: &gix::Error) -> ReadError {
    let sha256 =
        "its object ids are SHA-256 (git's object format `sha256`); repositories with SHA-1 ids are read";
    let reason = if uses_sha256(path) { sha256.to_owned() } else { error.to_string() };
    ReadError::Open { path: path.to_owned(), reason }
}

/// The object id of 40 hexadecimal digits.
pub(crate) fn object_id(hex: &str) -> Result<ObjectId, ReadError> {
    ObjectId::from_hex(hex.as_bytes()).map_err(|error| ReadError::object(hex, error))
}

pub(crate) fn read_commit(local: &gix::Repository, id: ObjectId) -> Result<Commit, ReadError> {
    let commit = local.find_commit(id).map_err(|error| ReadError::object(id, error))?;
    let decoded = commit.decode().map_err(|error| ReadError::object(id, error))?;
    let committer = decoded.committer().map_err(|error| ReadError::object(id, error))?;
    let author = decoded.author().map_err(|error| ReadError::object(id, error))?;
    let message = decoded.message.to_str_lossy();
    let mut authors = vec![person(author)];
    for name in
        message.lines().filter_map(co_author).filter(|name| !authors.contains(name)).collect::<Vec<_>>()
    {
        authors.push(name);
    }
    Ok(Commit {
        id: id.to_string().parse()?,
        tree: decoded.tree().to_string().parse()?,
        parents: decoded.parents().map(|id| id.to_string().parse()).collect::<Result<_, _>>()?,
        authors,
        committer: person(committer),
        subject: message.lines().next().unwrap_or_default().trim().to_owned(),
        time_ms: committer.seconds().saturating_mul(1000),
    })
}

fn person(signature: gix::actor::SignatureRef<'_>) -> Person {
    Person {
        name: signature.name.trim().to_str_lossy().into_owned(),
        email: signature.email.trim().to_str_lossy().into_owned(),
    }
}

/// `Co-authored-by: Ada <ada@example.org>`, in any case, as Git hosts read it.
fn co_author(line: &str) -> Option<Person> {
    const KEY: &str = "co-authored-by:";
    let head = line.get(..KEY.len())?;
    let rest = head.eq_ignore_ascii_case(KEY).then(|| line.get(KEY.len()..)).flatten()?;
    let (name, email) = rest.trim().strip_suffix('>')?.rsplit_once('<')?;
    Some(Person { name: name.trim().to_owned(), email: email.trim().to_owned() })
}
