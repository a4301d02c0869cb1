//! Runs the `git` binary with a deadline and a closed environment, and hands back what it said.
//!
//! Invariants: no configuration of the machine or its users is read, nothing is ever asked on a terminal, and a child
//! that outlives its deadline is killed together with everything it started (`ssh`, `git-remote-https`).

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Variables that would point `git` at another repository, another program, or another configuration, or let it trust
/// anybody.
const REMOVED: [&str; 17] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_SSH",
    "GIT_SSH_VARIANT",
    "GIT_PROXY_COMMAND",
    "GIT_SSL_NO_VERIFY",
    "GIT_CONFIG_PARAMETERS",
    "GIT_TRACE",
    "GIT_TRACE_CURL",
    "GIT_CURL_VERBOSE",
    "SSH_AUTH_SOCK",
    "SSH_ASKPASS",
];

/// The most of standard output and of standard error that is kept; the rest is read and dropped.
const KEPT: u64 = 64 * 1024 * 1024;

/// How much `git` and what it starts stand back, as `nice` counts.
const NICENESS: i32 = 10;

/// What a finished command said.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// Why there is no output.
#[derive(Debug)]
pub(super) enum RunError {
    /// The program could not be started.
    NotStarted(io::Error),
    /// It was killed at its deadline.
    TimedOut,
    /// Its end could not be learnt.
    Lost(io::Error),
}

/// One configuration setting, given through the environment so that it shows in no list of processes.
pub(super) type Setting = (String, String);

/// A `git` command in `directory` with the closed environment and these settings.
pub(super) fn git(program: &Path, directory: &Path, global_config: &Path, settings: &[Setting]) -> Command {
    let mut command = Command::new(program);
    command.current_dir(directory).stdin(Stdio::null());
    for name in REMOVED {
        command.env_remove(name);
    }
    command
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", global_config)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ASKPASS", "")
        .env("SSH_ASKPASS_REQUIRE", "never")
        .env("GIT_ALLOW_PROTOCOL", "file:http:https:ssh")
        .env("GIT_CONFIG_COUNT", settings.len().to_string());
    for (number, (key, value)) in settings.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value);
    }
    command
}

/// Runs a command to its end, or kills its whole process group at the deadline.
pub(super) fn run(mut command: Command, limit: Duration) -> Result<Output, RunError> {
    let deadline = Instant::now() + limit;
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    #[expect(clippy::disallowed_methods, reason = "this is the module that bounds the time of `git`")]
    let mut child = command.spawn().map_err(RunError::NotStarted)?;
    yield_to_others(&child);
    let stdout = read_in_background(child.stdout.take());
    let stderr = read_in_background(child.stderr.take());
    let read = [&stdout, &stderr].map(|stream| receive_until(stream, deadline));
    let [Some(stdout), Some(stderr)] = read else {
        kill_group(&child);
        child.wait().map_err(RunError::Lost)?;
        return Err(RunError::TimedOut);
    };
    let status = child.wait().map_err(RunError::Lost)?;
    Ok(Output { status, stdout, stderr })
}

fn read_in_background(stream: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut stream) = stream {
            // A stream that breaks off has ended; the exit status tells the rest.
            let _ = stream.by_ref().take(KEPT).read_to_end(&mut kept);
            let _ = io::copy(&mut stream, &mut io::sink());
        }
        let _ = sender.send(String::from_utf8_lossy(&kept).into_owned());
    });
    receiver
}

fn receive_until(stream: &Receiver<String>, deadline: Instant) -> Option<String> {
    stream.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
}

/// Nobody waits for a fetch who would notice: it gives way to whatever answers people and hosts on this machine.
fn yield_to_others(child: &Child) {
    if let Some(process) = process_id(child) {
        // A child that has ended already needs no priority.
        let _ = rustix::process::setpriority_process(Some(process), NICENESS);
    }
}

fn kill_group(child: &Child) {
    if let Some(group) = process_id(child) {
        // The group may have ended by itself in this moment; then there is nothing to kill.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

fn process_id(child: &Child) -> Option<rustix::process::Pid> {
    i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_outlives_its_deadline_is_killed_with_its_children() {
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 600 & sleep 600"]);
        let started = Instant::now();
        assert!(matches!(run(command, Duration::from_millis(50)), Err(RunError::TimedOut)));
        assert!(started.elapsed() < Duration::from_mins(1));
    }

    #[test]
    fn both_streams_and_the_status_come_back() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        let output = run(command, Duration::from_mins(1)).unwrap();
        assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("out\n", "err\n"));
        assert_eq!(output.status.code(), Some(3));
    }
}
