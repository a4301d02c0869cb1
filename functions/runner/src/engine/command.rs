//! Runs an engine: in a process group of its own, in the environment it is given, watched for interruption.
//!
//! An interrupt goes to the engine alone: SIGINT. It then lets running operations end, saves its state and exits; a second
//! one makes it give up at once, and what it has not saved. One that comes while it still reads configuration and state is
//! lost: what stops it is made anew when the operation begins (`Context.Stop` and `acquireRun` in both engines). So how a
//! command is interrupted depends on what it does: [`Manner`]. What still runs long after is killed. When a command has
//! ended, so has everything it started.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Notify;

use super::descendants::Processes;
use crate::ended::{Ended, Step};
use crate::interrupt::Interrupt;
use crate::user::EngineUser;

/// How long an interrupted engine may take to save its state before it is killed.
pub(crate) const PATIENCE: Duration = Duration::from_mins(15);

/// The most bytes of standard error that are kept.
const ERROR_LIMIT: usize = 256 * 1024;

/// How long asking for a version may take.
const CAPTURE_TIMEOUT: Duration = Duration::from_secs(30);

/// Where and as what an engine runs.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The binary.
    pub(crate) program: PathBuf,
    /// The root module.
    pub(crate) directory: PathBuf,
    /// The whole environment.
    pub(crate) environment: BTreeMap<String, String>,
    /// What ends it before its time.
    pub(crate) interrupt: Interrupt,
    /// What else this process runs.
    pub(crate) processes: Processes,
    /// Whom it runs as.
    pub(crate) user: EngineUser,
    /// How long it may take to end when it is interrupted; then it is killed.
    pub(crate) patience: Duration,
}

/// How a command is interrupted.
#[derive(Debug, Clone)]
pub(crate) enum Manner {
    /// Once, at once.
    Once,
    /// At once, and again when it still runs after a time: it changes nothing, so it may give up whenever it is told to.
    Again(Duration),
    /// Once, as soon as it says that it acts: no sooner, or it would act in spite of it.
    WhenItActs(Arc<Notify>),
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Exit {
    /// Its exit code; `None` where a signal ended it.
    pub(crate) code: Option<i32>,
    /// What it wrote to standard error, cut.
    pub(crate) stderr: String,
}

/// A command that runs, its standard output not yet read.
pub(crate) struct Running {
    child: Child,
    manner: Manner,
    group: Option<Pid>,
    interrupt: Interrupt,
    processes: Processes,
    user: EngineUser,
    patience: Duration,
}

impl Place {
    /// Runs a command and gives each line of its standard output as it comes.
    pub(crate) async fn run<A, F>(&self, arguments: &[A], line: F) -> Step<Exit>
    where
        A: AsRef<OsStr>,
        F: FnMut(&str),
    {
        self.run_in(Manner::Once, arguments, line).await
    }

    /// The same, interrupted in another manner.
    pub(crate) async fn run_in<A, F>(&self, manner: Manner, arguments: &[A], mut line: F) -> Step<Exit>
    where
        A: AsRef<OsStr>,
        F: FnMut(&str),
    {
        let mut running = Running { manner, ..self.start(arguments)? };
        let stdout = running.child.stdout.take();
        let read = async {
            let Some(stdout) = stdout else { return };
            let mut lines = BufReader::new(stdout);
            let mut bytes = Vec::new();
            while lines.read_until(b'\n', &mut bytes).await.is_ok_and(|count| count > 0) {
                line(String::from_utf8_lossy(&bytes).trim_end());
                bytes.clear();
            }
        };
        let (exit, ()) = tokio::join!(running.wait(), read);
        exit
    }

    /// Starts a command.
    pub(crate) fn start<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Step<Running> {
        if self.interrupt.reason().is_some() {
            return Err(Ended::Interrupted);
        }
        let mut command = self.user.command(&self.program);
        command
            .args(arguments)
            .current_dir(&self.directory)
            .env_clear()
            .envs(&self.environment)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        #[expect(clippy::disallowed_methods, reason = "this is the module that bounds processes")]
        let child = command.spawn().map_err(|error| Ended::io("start", &self.program, &error))?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let Self { processes, user, patience, .. } = *self;
        let interrupt = self.interrupt.clone();
        Ok(Running { child, manner: Manner::Once, group, interrupt, processes, user, patience })
    }
}

impl Running {
    /// Takes the standard output, to be read elsewhere.
    pub(crate) fn take_stdout(&mut self) -> Step<std::fs::File> {
        let stdout = self.child.stdout.take().and_then(|stdout| stdout.into_owned_fd().ok());
        stdout.map(std::fs::File::from).ok_or_else(|| Ended::transient("the engine's output cannot be read"))
    }

    /// Waits for the end of the command and of everything it started; interrupts it where the attempt is to stop.
    pub(crate) async fn wait(&mut self) -> Step<Exit> {
        let stderr = self.child.stderr.take();
        let status = async {
            let status = self.supervise().await;
            // Whatever it left behind holds its pipes open, and may act; the group's id is its own while one lives.
            if let Some(group) = self.group {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let ended = self.user.end().await;
            self.processes.end().await.and(ended).and(status)
        };
        let (status, stderr) = tokio::join!(status, keep(stderr));
        Ok(Exit { code: status?.code(), stderr })
    }

    async fn supervise(&mut self) -> Step<ExitStatus> {
        let unknown = |error| Ended::transient(format!("the engine's end was not seen: {error}"));
        tokio::select! {
            status = self.child.wait() => return status.map_err(unknown),
            () = self.interrupt.raised() => {}
        }
        if let Ok(status) = tokio::time::timeout(self.patience, self.interrupted()).await {
            return status.map_err(unknown);
        }
        self.interrupt.in_vain(self.patience);
        let _ = self.child.start_kill();
        self.child.wait().await.map_err(unknown)
    }

    /// Interrupts the command in its manner, and waits for its end.
    async fn interrupted(&mut self) -> io::Result<ExitStatus> {
        match &self.manner {
            Manner::Once => {}
            Manner::Again(after) => {
                self.send_interrupt();
                if let Ok(status) = tokio::time::timeout(*after, self.child.wait()).await {
                    return status;
                }
            }
            Manner::WhenItActs(acts) => tokio::select! {
                status = self.child.wait() => return status,
                () = acts.notified() => {}
            },
        }
        self.send_interrupt();
        self.child.wait().await
    }

    fn send_interrupt(&self) {
        if let Some(engine) = self.group {
            let _ = kill_process(engine, Signal::INT);
        }
    }
}

/// Reads to the end, keeps the beginning: whole lines, so that no secret is cut.
async fn keep<R: AsyncRead + Unpin>(stream: Option<R>) -> String {
    let Some(mut stream) = stream else { return String::new() };
    let mut kept = Vec::new();
    let mut chunk = [0; 8192];
    while let Ok(count @ 1..) = stream.read(&mut chunk).await {
        let room = ERROR_LIMIT.saturating_sub(kept.len());
        kept.extend(chunk.iter().take(count.min(room)));
    }
    if kept.len() == ERROR_LIMIT {
        kept.truncate(kept.iter().rposition(|byte| *byte == b'\n').unwrap_or(0));
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// What a short command that changes nothing writes to its standard output.
pub(crate) async fn capture(program: &Path, arguments: &[&str]) -> Step<Vec<u8>> {
    let mut command = Command::new(program);
    // An engine that asks its maker for news takes seconds where the network is away.
    command.args(arguments).env("CHECKPOINT_DISABLE", "1").stdin(Stdio::null()).kill_on_drop(true);
    #[expect(clippy::disallowed_methods, reason = "this is the module that bounds processes")]
    let output = tokio::time::timeout(CAPTURE_TIMEOUT, command.output()).await;
    match output {
        Ok(Ok(output)) => Ok(output.stdout),
        Ok(Err(error)) => Err(Ended::io("run", program, &error)),
        Err(_) => Err(Ended::transient(format!("{} does not answer", program.display()))),
    }
}

#[cfg(test)]
mod tests {
    use tokio::signal::unix::{SignalKind, signal};

    use super::*;
    use crate::interrupt::Interruption;

    /// Runs a shell that is to stop once it has written `ready`.
    async fn interrupted(script: &str, patience: Duration) -> (Exit, Vec<String>) {
        interrupted_in(Manner::Once, script, patience).await
    }

    /// The same in a manner; it acts where it writes so.
    async fn interrupted_in(manner: Manner, script: &str, patience: Duration) -> (Exit, Vec<String>) {
        let acts = match &manner {
            Manner::WhenItActs(acts) => acts.clone(),
            _ => Arc::default(),
        };
        // As the runner does. A shell in the background starts its programs with this signal ignored, and they hand that
        // on; what a process catches, its children begin with as usual.
        let _caught = signal(SignalKind::interrupt()).unwrap();
        let place = Place {
            program: "/bin/sh".into(),
            directory: "/".into(),
            environment: [("PATH".to_owned(), env!("PATH").to_owned())].into(),
            interrupt: Interrupt::new(),
            processes: Processes::Shared,
            user: EngineUser::Ours,
            patience,
        };
        let mut lines = Vec::new();
        let hear = |line: &str| {
            lines.push(line.to_owned());
            match line {
                "ready" => place.interrupt.raise(Interruption::Told("stop".to_owned())),
                "acts" => acts.notify_one(),
                _ => {}
            }
        };
        let exit = place.run_in(manner, &["-c", script], hear).await.unwrap();
        (exit, lines)
    }

    #[tokio::test]
    async fn an_engine_that_does_not_end_when_it_is_interrupted_is_killed_after_a_while() {
        let patience = Duration::from_millis(300);
        let begun = tokio::time::Instant::now();
        let (exit, lines) = interrupted(
            "trap 'echo asked' INT; echo ready; while :; do sleep 600; done & while :; do wait; done",
            patience,
        )
        .await;
        assert_eq!((exit.code, lines.join(" ").as_str()), (None, "ready asked"));
        assert!(begun.elapsed() >= patience);
    }

    #[tokio::test]
    async fn what_changes_nothing_is_interrupted_again() {
        let loses_one =
            "trap 'echo lost; trap \"echo heard; exit 3\" INT' INT; echo ready; while :; do sleep 0.01; done";
        let manner = Manner::Again(Duration::from_millis(300));
        let (exit, lines) = interrupted_in(manner, loses_one, PATIENCE).await;
        assert_eq!((exit.code, lines.join(" ").as_str()), (Some(3), "ready lost heard"));
    }

    #[tokio::test]
    async fn what_acts_is_interrupted_when_it_does() {
        let manner = || Manner::WhenItActs(Arc::default());
        let script = "trap 'echo lost' INT; sleep 0.5 & echo ready; wait $!; trap 'echo saved; exit 3' INT; echo acts; while :; do sleep 0.01; done";
        let (exit, lines) = interrupted_in(manner(), script, PATIENCE).await;
        assert_eq!((exit.code, lines.join(" ").as_str()), (Some(3), "ready acts saved"));
        let ends = "trap 'echo lost' INT; sleep 0.1 & echo ready; wait $!; exit 4";
        let (exit, lines) = interrupted_in(manner(), ends, PATIENCE).await;
        assert_eq!((exit.code, lines.join(" ").as_str()), (Some(4), "ready"));
    }

    #[tokio::test]
    async fn an_engine_that_saves_its_state_in_time_is_not_killed() {
        let save = "trap 'echo saved; exit 3' INT; echo ready; while :; do sleep 0.01; done";
        let (exit, lines) = interrupted(save, PATIENCE).await;
        assert_eq!((exit.code, lines.join(" ").as_str()), (Some(3), "ready saved"));
    }
}
