//! A repository that the tests push to, and the bare one that Yuba reads.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::git;

/// A working copy and the bare repository it is pushed to.
#[derive(Debug)]
pub struct Repository {
    bare: PathBuf,
    work: PathBuf,
}

impl Repository {
    /// A new, empty repository below a directory.
    pub fn new(dir: &Path) -> Self {
        let repository = Self { bare: dir.join("infra.git"), work: dir.join("infra") };
        git(dir, &["init", "--quiet", "--bare", "infra.git"]);
        git(dir, &["clone", "--quiet", "infra.git", "infra"]);
        repository
    }

    /// The URL that Yuba reads it by.
    pub fn url(&self) -> String {
        format!("file://{}", self.bare.display())
    }

    /// The working copy.
    pub fn work(&self) -> &Path {
        &self.work
    }

    /// Writes a file of the working copy.
    pub fn write(&self, path: &str, text: &str) {
        let file = self.work.join(path);
        fs::create_dir_all(file.parent().expect("a file has a directory")).expect("directories can be made");
        fs::write(file, text).expect("files can be written");
    }

    /// Replaces a text in a file of the working copy.
    pub fn replace(&self, path: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.work.join(path)).expect("the file is there");
        assert!(text.contains(from), "{path} does not contain {from:?}");
        self.write(path, &text.replace(from, to));
    }

    /// Commits everything and pushes it; the commit's id.
    pub fn push(&self, message: &str) -> String {
        git(&self.work, &["add", "--all"]);
        git(&self.work, &["commit", "--quiet", "--allow-empty", "-m", message]);
        git(&self.work, &["push", "--quiet", "--force", "origin", "HEAD"]);
        self.head()
    }

    /// Moves the branch to an older commit and pushes that.
    pub fn force_push_back(&self, commits: usize) -> String {
        git(&self.work, &["reset", "--quiet", "--hard", &format!("HEAD~{commits}")]);
        git(&self.work, &["push", "--quiet", "--force", "origin", "HEAD"]);
        self.head()
    }

    /// The id of the newest commit.
    pub fn head(&self) -> String {
        git(&self.work, &["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// The plan id of the newest commit, as people type it.
    pub fn plan_id(&self) -> String {
        let head: String = self.head().chars().take(10).collect();
        format!("plan-main-{head}")
    }
}
