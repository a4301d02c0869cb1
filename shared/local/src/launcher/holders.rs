//! Who holds a lock file open, and killing them: the whole process group of the task, and whatever left it.

use std::path::Path;
use std::{fs, io};

use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};

/// Sends SIGKILL to every process but this one that holds the file open. The group of the task's first process is
/// killed as a whole, if a holder is in it: an id that was given to another group since is thereby left alone.
pub(super) fn kill(lock: &Path, first: Option<i32>) -> io::Result<()> {
    let group = first.and_then(Pid::from_raw);
    let holders = holders(&fs::canonicalize(lock)?);
    if let Some(group) = group
        && holders.iter().any(|holder| getpgid(Some(*holder)).is_ok_and(|of| of == group))
    {
        // It may have ended by itself in between.
        let _ = kill_process_group(group, Signal::KILL);
    }
    for holder in holders {
        let _ = kill_process(holder, Signal::KILL);
    }
    Ok(())
}

/// The processes that hold a file open, as `/proc` tells.
fn holders(file: &Path) -> Vec<Pid> {
    let own = rustix::process::getpid();
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    processes
        .filter_map(|process| process.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(Pid::from_raw)
        .filter(|process| *process != own && holds(*process, file))
        .collect()
}

/// Whether a process holds a file open; one that has ended, or is another user's, does not.
fn holds(process: Pid, file: &Path) -> bool {
    let Ok(mut open) = fs::read_dir(format!("/proc/{}/fd", process.as_raw_nonzero())) else { return false };
    open.any(|entry| entry.and_then(|entry| fs::read_link(entry.path())).is_ok_and(|target| target == file))
}
