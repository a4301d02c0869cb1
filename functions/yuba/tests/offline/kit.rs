//! A directory to work in, real git, the real binary, and what it printed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A directory that is gone when the test is over.
pub(crate) struct Folder {
    dir: TempDir,
    beside: TempDir,
}

impl Folder {
    /// An empty directory.
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), beside: tempfile::tempdir().unwrap() }
    }

    /// An empty Git repository.
    pub(crate) fn repository() -> Self {
        let folder = Self::new();
        folder.git(&["init", "--quiet", "--initial-branch=main"]);
        folder
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// A path that is not in it, and goes with it.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.beside.path().join(name)
    }

    /// Writes a file, and the directories above it.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// Runs git.
    pub(crate) fn git(&self, arguments: &[&str]) {
        let mut command = Command::new("git");
        command.current_dir(self.path()).args(arguments);
        for (name, value) in [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_AUTHOR_NAME", "Ada"),
            ("GIT_AUTHOR_EMAIL", "ada@example.com"),
            ("GIT_AUTHOR_DATE", "2026-11-30T08:00:00Z"),
            ("GIT_COMMITTER_NAME", "Ada"),
            ("GIT_COMMITTER_EMAIL", "ada@example.com"),
            ("GIT_COMMITTER_DATE", "2026-11-30T08:00:00Z"),
        ] {
            command.env(name, value);
        }
        let output = run(&mut command);
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Runs a program in it that must succeed.
    pub(crate) fn run(&self, program: &str, arguments: &[&str], environment: &[(&str, &str)]) {
        let mut command = Command::new(program);
        command.current_dir(self.path()).args(arguments).envs(environment.iter().copied());
        let output = run(&mut command);
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Commits everything. Ids are the same in each test run: authors and dates are fixed.
    pub(crate) fn commit(&self, subject: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", subject]);
    }

    /// Runs `yuba` in it; what it printed, and its exit code where that is not 0.
    pub(crate) fn yuba(&self, arguments: &[&str]) -> String {
        self.yuba_with(arguments, |_| ())
    }

    /// Runs `yuba` with further settings of the process.
    pub(crate) fn yuba_with(&self, arguments: &[&str], settings: impl FnOnce(&mut Command)) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_yuba"));
        command.current_dir(self.path()).args(arguments).stdin(Stdio::null());
        settings(&mut command);
        let output = run(&mut command);
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        if !output.status.success() {
            let code = output.status.code().unwrap_or(-1);
            writeln!(text, "exit code {code}").unwrap();
        }
        text.replace(&self.path().display().to_string(), "FOLDER")
    }
}

/// Runs a program to its end.
#[expect(clippy::disallowed_methods, reason = "tests run programs as people do")]
fn run(command: &mut Command) -> Output {
    command.output().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"))
}
