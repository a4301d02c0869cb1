//! Running programs: what they printed and how they ended.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a program printed, and its exit code.
#[derive(Debug, Clone)]
pub struct Ran {
    /// What it was called with.
    pub command: String,
    /// Exit code; -1 where a signal ended it.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ran {
    /// The output of a program that must have succeeded.
    pub fn ok(self) -> String {
        assert_eq!(self.code, 0, "`{}` failed\n{}\n{}", self.command, self.out, self.err);
        self.out
    }

    /// The error of a program that must have ended with this code.
    pub fn failed_with(self, code: i32) -> String {
        assert_eq!(self.code, code, "`{}`\n{}\n{}", self.command, self.out, self.err);
        self.err
    }
}

/// Runs a program to its end.
#[expect(clippy::disallowed_methods, reason = "tests run programs as people do")]
pub fn run(command: &mut Command) -> Ran {
    let shown = format!("{command:?}");
    let output = command.output().unwrap_or_else(|error| panic!("{shown} cannot be run: {error}"));
    Ran {
        command: shown,
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// `git` in a directory, with nothing of the machine's own configuration.
pub(crate) fn git<S: AsRef<OsStr>>(dir: &Path, arguments: &[S]) -> String {
    let mut command = Command::new("git");
    command
        .current_dir(dir)
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null");
    run(&mut command).ok()
}

/// The engine that is on the PATH: tofu before terraform, as Yuba looks for them.
pub(crate) fn engine() -> &'static str {
    if on_path("tofu").is_some() { "tofu" } else { "terraform" }
}

/// Where a program lies that must be there.
pub(crate) fn find_program(name: &str) -> PathBuf {
    on_path(name).unwrap_or_else(|| panic!("{name} is not on the PATH"))
}

fn on_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&path()).map(|directory| directory.join(name)).find(|place| place.exists())
}

/// The PATH.
#[expect(clippy::disallowed_methods, reason = "tests look where people's shells look")]
pub(crate) fn path() -> String {
    std::env::var("PATH").unwrap_or_default()
}

/// The built `yuba`, in `target/<profile>/` above this test.
pub fn yuba() -> PathBuf {
    let here = std::env::current_exe().expect("a test knows its own program");
    let profile = here.ancestors().nth(2).expect("tests lie in target/<profile>/deps");
    let path = profile.join("yuba");
    assert!(path.exists(), "{} is missing: `cargo build --bins` (or `make build`) makes it", path.display());
    path
}
