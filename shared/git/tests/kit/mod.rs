//! Repositories made by the real `git`, for the tests of this crate.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part of the kit")]
#![expect(clippy::unwrap_used, reason = "a test's helper fails the test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use yuba_core::id::SourceName;
use yuba_core::spec::{GitReference, SourceSpec};
use yuba_core::time::Span;

/// A repository with a working tree, as a person has it.
pub struct Origin {
    directory: TempDir,
}

impl Origin {
    /// An empty repository whose branch is `main`.
    pub fn empty() -> Self {
        let origin = Self { directory: TempDir::new().unwrap() };
        fs::create_dir_all(origin.path()).unwrap();
        origin.git(&["init", "--quiet", "--initial-branch=main"]);
        origin.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
        origin.git(&["config", "http.receivepack", "false"]);
        origin
    }

    /// One with a first commit of these files.
    pub fn with(files: &[(&str, &str)]) -> Self {
        let origin = Self::empty();
        origin.commit("first", files);
        origin
    }

    /// The working tree: its name has a space and letters outside ASCII, as a user's may.
    pub fn path(&self) -> PathBuf {
        self.directory.path().join("live repository ü")
    }

    /// Its parent, which a server exports.
    pub fn parent(&self) -> &Path {
        self.directory.path()
    }

    /// Runs git in it and returns what it printed.
    pub fn git(&self, arguments: &[&str]) -> String {
        git(&self.path(), arguments)
    }

    /// Writes files (`None` is not possible here; see [`Self::git`] for `rm`).
    pub fn write(&self, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = self.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    /// Commits everything in the working tree with these files written; returns the commit's id.
    pub fn commit(&self, message: &str, files: &[(&str, &str)]) -> String {
        self.write(files);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
        self.head()
    }

    /// Makes a symbolic link and nothing else.
    pub fn link(&self, path: &str, target: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    /// The id of the checked out commit.
    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// A source that names it by a file URL.
    pub fn source(&self, reference: GitReference) -> SourceSpec {
        source(&format!("file://{}", self.path().display()), reference)
    }
}

/// A source at a URL.
pub fn source(url: &str, reference: GitReference) -> SourceSpec {
    SourceSpec { url: url.to_owned(), reference, interval: Span::seconds(60), secret: None, suspend: false }
}

/// The name of a source, where one is needed.
pub fn source_name() -> SourceName {
    SourceName::new("default", "live")
}

/// The branch `main`.
pub fn main() -> GitReference {
    GitReference::Branch("main".to_owned())
}

/// Runs git in a directory with a fixed author and clock; the test fails if it does.
#[expect(clippy::disallowed_methods, reason = "real git, in a test")]
pub fn git(directory: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(directory)
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "Ada Lovelace")
        .env("GIT_AUTHOR_EMAIL", "ada@example.org")
        .env("GIT_COMMITTER_NAME", "Grace Hopper")
        .env("GIT_COMMITTER_EMAIL", "grace@example.org")
        .env("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z")
        .env("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
