//! Fetches a source's commits into a bare cache directory.
//!
//! The transport is the `git` binary (docs/decisions/0004-git-transport.md); reading is gix. The full history of the
//! one reference is fetched: `author` counts everybody since the applied revision, and a force-push must be compared
//! with what was seen before. Objects are never pruned.
//!
//! Invariants: one fetch at a time writes to a cache; a fetch ends at its limit; credentials reach neither arguments,
//! configuration files nor messages.

mod cache;
mod credentials;
mod error;
mod process;
mod reference;
mod url;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sha2::{Digest, Sha256};
use yuba_core::id::{CommitId, Revision, TreeId};
use yuba_core::spec::SourceSpec;

use crate::repository::{Commit, Repository};
use cache::Locked;
use credentials::Prepared;
use process::{Output, RunError, Setting};
use reference::Wanted;
use url::Location;

pub use credentials::{Credentials, Login};
pub use error::FetchError;
pub use url::redacted;

/// How fetches are done on this machine.
#[derive(Debug, Clone)]
pub struct Fetcher {
    /// The `git` program; looked up in PATH where it is a bare name.
    pub git: PathBuf,
    /// The `ssh` program.
    pub ssh: PathBuf,
    /// The longest that one exchange with a host may take.
    pub limit: Duration,
}

impl Default for Fetcher {
    fn default() -> Self {
        Self { git: "git".into(), ssh: "ssh".into(), limit: Duration::from_mins(10) }
    }
}

/// What a fetch found.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// The cache, to read from.
    pub repository: Repository,
    /// The commit that the reference leads to, under the reference's name.
    pub revision: Revision,
    /// Its tree.
    pub tree: TreeId,
    /// What is known of it.
    pub commit: Commit,
}

impl Fetcher {
    /// Fetches what `source` refers to into the bare cache at `cache`, which is made where it does not exist.
    pub fn fetch(
        &self,
        cache: &Path,
        source: &SourceSpec,
        credentials: &Credentials,
    ) -> Result<Fetched, FetchError> {
        let location = Location::parse(&source.url)?;
        let wanted = Wanted::of(&source.reference, &location.url)?;
        let locked = Locked::take(cache)?;
        let prepared = credentials::prepare(&location, credentials, &self.ssh)?;
        let exchange = Exchange { fetcher: self, cache: &locked, location: &location, prepared: &prepared };
        exchange.make_cache()?;
        let commit = match &wanted {
            Wanted::Name(name) => exchange.fetch_name(&name.full, &name.to_string())?,
            Wanted::Commit(id) => exchange.fetch_commit(id)?,
        };
        exchange.join_packs();
        finish(&locked.path, source, &commit)
    }
}

/// Reads the fetched commit back from the cache.
fn finish(cache: &Path, source: &SourceSpec, commit: &CommitId) -> Result<Fetched, FetchError> {
    let repository = Repository::open(cache)?;
    let commit = repository.commit(commit)?;
    let reference = source.reference.as_revision_name().to_owned();
    let revision = Revision { reference, commit: commit.id.clone() };
    Ok(Fetched { repository, revision, tree: commit.tree.clone(), commit })
}

/// One fetch under way.
struct Exchange<'a> {
    fetcher: &'a Fetcher,
    cache: &'a Locked,
    location: &'a Location,
    prepared: &'a Prepared,
}

impl Exchange<'_> {
    fn make_cache(&self) -> Result<(), FetchError> {
        if self.cache.is_made() {
            return Ok(());
        }
        self.succeed(&["init", "--quiet", "--bare", "--template=", "."]).map(drop)
    }

    /// Fetches one reference and says which commit it leads to.
    fn fetch_name(&self, full: &str, shown: &str) -> Result<CommitId, FetchError> {
        let output = self.run(&self.fetch_arguments(&[], &[&format!("+{full}:{}", local_name(full))]))?;
        if output.status.success() {
            return self.peeled(&local_name(full), shown);
        }
        if !output.stderr.contains("couldn't find remote ref") {
            return Err(self.failure(&output));
        }
        Err(reference::missing(
            &self.location.url,
            full,
            shown,
            &self.succeed(&["ls-remote", "--", &self.location.url])?,
        ))
    }

    /// Fetches one commit: by its id where the host allows that, else with everything that has a name.
    fn fetch_commit(&self, id: &CommitId) -> Result<CommitId, FetchError> {
        if self.has_commit(id) {
            return Ok(id.clone());
        }
        let output = self.run(&self.fetch_arguments(&[], &[&format!("+{id}:refs/yuba/commits/{id}")]))?;
        if output.status.success() && self.has_commit(id) {
            return Ok(id.clone());
        }
        let names = ["+refs/heads/*:refs/yuba/heads/*", "+refs/tags/*:refs/yuba/tags/*"];
        let output = self.run(&self.fetch_arguments(&["--prune"], &names))?;
        if !output.status.success() {
            return Err(self.failure(&output));
        }
        if self.has_commit(id) {
            return Ok(id.clone());
        }
        let (url, reference) = (self.location.url.clone(), format!("commit {id} on any branch or tag"));
        Err(FetchError::NoReference { url, reference, nearest: None })
    }

    fn has_commit(&self, id: &CommitId) -> bool {
        let found = Repository::open(&self.cache.path).and_then(|repository| repository.commit(id));
        found.is_ok()
    }

    /// The commit at the end of a fetched reference: annotated tags are followed.
    fn peeled(&self, local: &str, shown: &str) -> Result<CommitId, FetchError> {
        Repository::open(&self.cache.path)?.resolve(local).map_err(|_| FetchError::Reference {
            url: self.location.url.clone(),
            reference: shown.to_owned(),
            reason: "it names no commit".to_owned(),
        })
    }

    fn fetch_arguments<'b>(&'b self, more: &[&'b str], refspecs: &[&'b str]) -> Vec<&'b str> {
        let options = ["fetch", "--quiet", "--force", "--no-tags", "--no-write-fetch-head"];
        let fixed = ["--no-recurse-submodules", "--no-auto-maintenance"];
        [options.as_slice(), &fixed, more, &["--", self.location.url.as_str()], refspecs].concat()
    }

    /// Joins packs where there are many. Geometric: the cost grows with what is new, and nothing is ever dropped.
    fn join_packs(&self) {
        if !self.cache.has_many_packs() {
            return;
        }
        if let Err(error) = self.succeed(&["repack", "-d", "--geometric=2", "--quiet"]) {
            tracing::warn!(cache = %self.cache.path.display(), %error, "packs could not be joined; reading slows down");
        }
    }

    fn succeed(&self, arguments: &[&str]) -> Result<String, FetchError> {
        let output = self.run(arguments)?;
        if output.status.success() { Ok(output.stdout) } else { Err(self.failure(&output)) }
    }

    fn failure(&self, output: &Output) -> FetchError {
        error::classify(&self.location.url, &self.location.host, &output.stderr)
    }

    fn run(&self, arguments: &[&str]) -> Result<Output, FetchError> {
        let limit = self.fetcher.limit;
        process::run(self.command(arguments), limit).map_err(|failure| match failure {
            RunError::NotStarted(source) => FetchError::NoGit { program: self.fetcher.git.clone(), source },
            RunError::TimedOut => FetchError::TimedOut { url: self.location.url.clone(), limit },
            RunError::Lost(source) => FetchError::Cache { path: self.cache.path.clone(), source },
        })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut settings: Vec<Setting> = [
            // Packs rather than loose files, so that their number says when to join them.
            ("fetch.unpackLimit", "1"),
            ("transfer.fsckObjects", "false"),
            ("gc.auto", "0"),
            ("http.lowSpeedLimit", "1"),
            ("http.lowSpeedTime", "60"),
            ("credential.helper", ""),
            ("core.hooksPath", "/dev/null"),
            ("init.defaultBranch", "main"),
        ]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .to_vec();
        settings.extend(self.prepared.settings.iter().cloned());
        let config = self.prepared.directory.path().join("config");
        let mut command = process::git(&self.fetcher.git, &self.cache.path, &config, &settings);
        match &self.prepared.ssh_command {
            Some(ssh) => command.env("GIT_SSH_COMMAND", ssh),
            None => command.env_remove("GIT_SSH_COMMAND"),
        };
        if let Some(authority) = &self.prepared.authority {
            // A setting would not do: where the variable is set, for the machine's own certificates, it goes first.
            command.env("GIT_SSL_CAINFO", authority);
        }
        command.env("HOME", self.prepared.directory.path()).args(arguments);
        command
    }
}

/// Where a remote reference is kept in the cache. Digits rather than the name: of `feature` and `feature/x`, which
/// follow each other on the host, one would stand in the other's way here.
fn local_name(full: &str) -> String {
    let digest = hex::encode(Sha256::digest(full));
    format!("refs/yuba/names/{digest}")
}
