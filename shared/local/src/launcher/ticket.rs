//! The files of one task: `<attempt>.lock`, held by all its processes and holding the id of the first; `<attempt>.end`,
//! how that one ended; `<attempt>.log`, what it wrote.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, SystemTime};

use yuba_core::id::AttemptId;

use super::holders;

/// How often, and how many times, a killed task is looked at again before killing it counts as failed.
const KILL_CHECKS: (Duration, u32) = (Duration::from_millis(20), 250);

/// What a lock file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    /// There is none: no task was started.
    Absent,
    /// Nobody holds it, and it names no process: nothing of the task has begun.
    Unused,
    /// A process of the task lives.
    Held,
    /// A task was started, and no process of it lives.
    Used,
}

/// The files of one task.
#[derive(Debug, Clone)]
pub(super) struct Ticket {
    lock: PathBuf,
}

/// The attempts that have a lock file in a directory.
pub(super) fn attempts_in(directory: &Path) -> io::Result<Vec<AttemptId>> {
    let mut attempts = Vec::new();
    for entry in fs::read_dir(directory)? {
        let name = entry?.file_name();
        let attempt = name.to_str().and_then(|name| name.strip_suffix(".lock"));
        attempts.extend(attempt.and_then(|attempt| attempt.parse::<AttemptId>().ok()));
    }
    Ok(attempts)
}

impl Ticket {
    pub(super) fn new(directory: &Path, attempt: AttemptId) -> Self {
        Self { lock: directory.join(format!("{attempt}.lock")) }
    }

    /// What the lock file says now.
    pub(super) fn condition(&self) -> io::Result<Condition> {
        let file = match File::open(&self.lock) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Condition::Absent),
            Err(error) => return Err(error),
        };
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Ok(Condition::Held),
            Err(TryLockError::Error(error)) => Err(error),
            Ok(()) if file.metadata()?.len() == 0 => Ok(Condition::Unused),
            Ok(()) => Ok(Condition::Used),
        }
    }

    /// Takes the lock, starts a process that inherits it (as its standard input, to begin with) and writes its id into
    /// it, and lets go of it. Nothing is started where nothing can be written.
    pub(super) fn hand_to(&self, start: impl FnOnce(Stdio) -> io::Result<Child>) -> io::Result<Child> {
        let mut options = OpenOptions::new();
        let file = options.create(true).read(true).write(true).truncate(true).mode(0o600).open(&self.lock)?;
        file.lock()?;
        let started = try_to_write(&file).and_then(|()| start(Stdio::from(file.try_clone()?)));
        started.or_else(|error| fs::remove_file(&self.lock).and(Err(error)))
    }

    /// Removes the files of a task that ended before a point in time; one that may live keeps them.
    pub(super) fn remove_if_ended_before(&self, before: SystemTime) -> io::Result<bool> {
        if self.ended_at()? >= before || self.condition()? != Condition::Used {
            return Ok(false);
        }
        // The lock goes last: by it the others are found.
        for path in [self.lock.with_extension("log"), self.lock.with_extension("end"), self.lock.clone()] {
            match fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(true)
    }

    /// When it was noted how the task ended; where it was not, when it started.
    pub(super) fn ended_at(&self) -> io::Result<SystemTime> {
        match fs::metadata(self.lock.with_extension("end")) {
            Err(error) if error.kind() == ErrorKind::NotFound => fs::metadata(&self.lock)?.modified(),
            found => found?.modified(),
        }
    }

    /// Returns when no process of the task lives.
    pub(super) fn wait_until_free(&self) -> io::Result<()> {
        File::open(&self.lock)?.lock_shared()
    }

    /// Kills whoever holds the lock, and the engine's own user's processes, and returns when nobody holds it.
    pub(super) fn kill_holders(&self, engine_user: Option<u32>) -> io::Result<()> {
        let (pause, times) = KILL_CHECKS;
        let mut killed = false;
        for _ in 0..times {
            if self.condition()? != Condition::Held {
                return self.note_killed(killed);
            }
            killed = true;
            let first = fs::read_to_string(&self.lock)?.parse().ok();
            holders::kill(&self.lock, first)?;
            engine_user.into_iter().for_each(holders::kill_user);
            thread::sleep(pause);
        }
        Err(io::Error::new(ErrorKind::TimedOut, "processes of it live after SIGKILL"))
    }

    /// A task that was killed before it noted its process was started all the same, and is not started again.
    fn note_killed(&self, killed: bool) -> io::Result<()> {
        if !killed {
            return Ok(());
        }
        let mut file = OpenOptions::new().write(true).open(&self.lock)?;
        match file.try_lock() {
            Ok(()) if file.metadata()?.len() == 0 => file.write_all(b"killed"),
            Ok(()) | Err(TryLockError::WouldBlock) => Ok(()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// The task's log, to be appended to.
    pub(super) fn open_log(&self) -> io::Result<File> {
        OpenOptions::new().create(true).append(true).mode(0o600).open(self.lock.with_extension("log"))
    }

    /// Notes how the task's first process ended; where that fails, it is not known later.
    pub(super) fn write_end(&self, how: &str) {
        if let Err(error) = fs::write(self.lock.with_extension("end"), how) {
            tracing::warn!(lock = %self.lock.display(), %error, how, "how a task ended cannot be noted");
        }
    }

    /// How the task's first process ended.
    pub(super) fn read_end(&self) -> String {
        fs::read_to_string(self.lock.with_extension("end")).unwrap_or_else(|_| "not known".to_owned())
    }
}

/// Whether an empty file takes as much as a process id; it is empty again after.
fn try_to_write(mut file: &File) -> io::Result<()> {
    file.write_all(b"a process id").and_then(|()| file.set_len(0)).and_then(|()| file.rewind())
}
