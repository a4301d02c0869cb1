//! Tasks as the machine sees them: by the lock files that their processes hold.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use yuba_core::id::AttemptId;

/// A task of which a process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// The attempt that it carries out.
    pub attempt: AttemptId,
    /// Its first process, the runner, which may have ended; `None` where it has not begun.
    pub first: Option<Pid>,
}

/// The tasks that live, of a directory of locks.
pub(crate) fn living(directory: &Path) -> Vec<Task> {
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    files.filter_map(|file| task(&file.path())).collect()
}

fn task(lock: &Path) -> Option<Task> {
    let name = lock.file_name()?.to_str()?;
    let attempt = name.strip_suffix(".lock")?.parse().ok()?;
    let held = matches!(File::open(lock).ok()?.try_lock_shared(), Err(TryLockError::WouldBlock));
    let first = fs::read_to_string(lock).ok()?.parse().ok().and_then(Pid::from_raw);
    held.then_some(Task { attempt, first })
}

/// `kill -9` of every process of a task: each has its lock open at the descriptor that the launcher moved it to, and the
/// first of them as its standard input before.
pub(crate) fn kill(directory: &Path, task: AttemptId) {
    let lock = directory.join(format!("{task}.lock"));
    let lock = lock.canonicalize().expect("a task has a lock");
    loop {
        let processes = fs::read_dir("/proc").expect("processes can be listed").flatten();
        let leads = |link: PathBuf| fs::read_link(link).is_ok_and(|file| file == lock);
        let holds = |process: &Path| leads(process.join("fd/9")) || leads(process.join("fd/0"));
        let holders = processes.map(|process| process.path()).filter(|process| holds(process));
        let pids = holders.filter_map(|holder| holder.file_name()?.to_str()?.parse().ok());
        let killed = pids.filter_map(Pid::from_raw).map(|pid| kill_process(pid, Signal::KILL));
        if killed.count() == 0 {
            return;
        }
    }
}
