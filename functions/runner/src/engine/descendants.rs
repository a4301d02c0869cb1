//! Ends whatever an attempt started and left behind, also what left the engine's process group.
//!
//! A runner that is a process of its own becomes the subreaper of its descendants: a process whose parent is gone
//! becomes the runner's own child, however it was started (`setsid`, a double fork). Killing and reaping children until
//! none is left therefore ends them all, and the id of a child that was not reaped names no other process.

use std::time::Duration;

use crate::ended::{Ended, Step};

/// What this process runs beside the attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processes {
    /// Nothing: all that descends from it belongs to the attempt, and is ended with each command of the engine.
    OfTheAttempt,
    /// Other things too: only the engine's process groups are ended.
    Shared,
}

/// How often, and how many times, children are killed and looked for again: for ten seconds.
const ROUNDS: (Duration, u32) = (Duration::from_millis(10), 1000);

impl Processes {
    /// Makes this process the one that orphaned descendants fall to. The error says what is therefore not done.
    pub(crate) fn adopt(self) -> Result<(), String> {
        match self {
            Self::Shared => Ok(()),
            Self::OfTheAttempt => system::adopt().map_err(|why| {
                format!(
                    "processes that leave the engine's process group are not ended on this system ({why})"
                )
            }),
        }
    }

    /// Ends all that descends from this process, where it belongs to the attempt. To be called while no command runs.
    pub(crate) async fn end(self) -> Step<()> {
        if self == Self::Shared {
            return Ok(());
        }
        let (pause, rounds) = ROUNDS;
        for _ in 0..rounds {
            if system::kill_children().is_empty() {
                return Ok(());
            }
            tokio::time::sleep(pause).await;
        }
        let left: Vec<String> = system::kill_children().iter().map(ToString::to_string).collect();
        match left.as_slice() {
            [] => Ok(()),
            left => Err(Ended::transient(format!(
                "processes that the engine left behind live on after SIGKILL: {}",
                left.join(", ")
            ))),
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;

    use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};

    pub(super) fn adopt() -> Result<(), String> {
        set_child_subreaper(Some(getpid())).map_err(|error| error.to_string())
    }

    /// Kills the children of this process, reaps those that have ended, and names the others.
    pub(super) fn kill_children() -> Vec<i32> {
        let mut left = Vec::new();
        for child in children() {
            let _ = kill_process(child, Signal::KILL);
            if matches!(waitpid(Some(child), WaitOptions::NOHANG), Ok(None)) {
                left.push(child.as_raw_nonzero().get());
            }
            // One that was reaped may have left children of its own, which are this process's now.
        }
        left.extend(children().into_iter().map(|child| child.as_raw_nonzero().get()));
        left.sort_unstable();
        left.dedup();
        left
    }

    fn children() -> Vec<Pid> {
        let own = getpid();
        let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
        let processes =
            processes.filter_map(|process| Pid::from_raw(process.ok()?.file_name().to_str()?.parse().ok()?));
        processes.filter(|process| parent(*process) == Some(own)).collect()
    }

    /// The parent of a process, from `/proc/<id>/stat`: `id (name) state parent …`, where the name may hold anything.
    fn parent(process: Pid) -> Option<Pid> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero())).ok()?;
        let (_, fields) = stat.rsplit_once(')')?;
        Pid::from_raw(fields.split_whitespace().nth(1)?.parse().ok()?)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) fn adopt() -> Result<(), String> {
        Err("it has no child subreaper".to_owned())
    }

    pub(super) fn kill_children() -> Vec<i32> {
        Vec::new()
    }
}
