//! Who holds a task's lock, and killing them: the whole process group of the task, and whatever left it.
//!
//! The lock belongs to what was opened once and inherited since. `/proc/PID/fdinfo` tells, of each descriptor, the locks that
//! are held through it (proc(5)). Whoever has opened the same file for itself, to look at it or to ask whether it is locked,
//! holds none of this kind: the task's is exclusive.
//!
//! Where engines are isolated, all that the attempt's user runs is killed too: what it holds open a container may hide, also
//! from root.

use std::path::Path;
use std::{fs, io};

use rustix::process::{Pid, Signal, getpgid, kill_process, kill_process_group};

/// Sends SIGKILL to every process but this one that holds the file's lock. The group of the task's first process is
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

/// Sends SIGKILL to every process of a user.
pub(super) fn kill_user(user: u32) {
    for process in processes() {
        let status =
            fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero())).unwrap_or_default();
        let of = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
        if of.split_whitespace().any(|id| id.parse() == Ok(user)) {
            let _ = kill_process(process, Signal::KILL);
        }
    }
}

fn processes() -> impl Iterator<Item = Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten();
    processes.filter_map(|process| process.ok()?.file_name().to_str()?.parse().ok()).filter_map(Pid::from_raw)
}

/// The processes that hold a file's lock, as `/proc` tells.
fn holders(file: &Path) -> Vec<Pid> {
    let own = rustix::process::getpid();
    processes().filter(|process| *process != own && holds(*process, file)).collect()
}

/// Whether a process holds a file's lock; one that has ended, or is another user's, does not.
fn holds(process: Pid, file: &Path) -> bool {
    let process = format!("/proc/{}", process.as_raw_nonzero());
    let Ok(open) = fs::read_dir(format!("{process}/fd")) else { return false };
    open.flatten().any(|entry| {
        let info = Path::new(&process).join("fdinfo").join(entry.file_name());
        fs::read_link(entry.path()).is_ok_and(|target| target == file)
            && fs::read_to_string(info).is_ok_and(|info| info.lines().any(is_exclusive))
    })
}

/// Whether a line of `fdinfo` tells of an exclusive lock of flock(2): `lock: 1: FLOCK  ADVISORY  WRITE 359 00:13:11691 0 EOF`.
fn is_exclusive(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next() == Some("lock:") && words.skip(1).take(3).eq(["FLOCK", "ADVISORY", "WRITE"])
}
