//! `Launcher` with child processes. A task is `yuba runner` in a process group of its own, so that neither Ctrl-C nor
//! the end of the server reaches it.
//!
//! Whether a task runs is told by a lock, not by a process id: the runner and everything it starts inherit an open,
//! locked file, so it is locked exactly as long as one of them lives, whatever was killed and however often the
//! server was started since.

mod holders;
mod ticket;

use std::collections::{BTreeMap, HashSet};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use std::{io, thread};

use async_trait::async_trait;
use secrecy::ExposeSecret;
use tokio::sync::mpsc::UnboundedSender;
use yuba_core::id::AttemptId;
use yuba_core::task::{Isolation, engine_user, environment as names};
use yuba_core::time::Span;
use yuba_ports::{LaunchOutcome, Launcher, PortError, StartTask, TaskStatus};

use crate::outside::without_own;
use ticket::{Condition, Ticket};

/// How long the lock and the log of a task that has ended are kept.
const TASK_KEPT: Duration = Duration::from_hours(7 * 24);
/// How often is looked for those that are over.
const PRUNE_EVERY: Duration = Duration::from_hours(1);

/// When to ask again where there is no room.
const NO_ROOM: Span = Span::seconds(1);

/// Moves standard input, which is the task's lock, to a descriptor that nobody minds, notes the process's id in it, and
/// becomes the task. A file handed over in this way reaches the task alone, whatever else this process starts at the
/// same moment; and no task begins whose lock does not say so, whoever is killed when.
const KEEP_LOCK: &str = "exec 9<&0 0</dev/null; printf %s $$ >&9 && exec \"$@\"";

/// How tasks are started.
#[derive(Debug, Clone)]
pub struct LauncherSettings {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// The environment that tasks inherit; of `YUBA_…` only `YUBA_KILL_AFTER` is.
    pub environment: BTreeMap<String, String>,
    /// How many tasks may run at once.
    pub capacity: usize,
    /// Where locks and logs of tasks lie; it exists.
    pub directory: PathBuf,
    /// The directory that tasks work in.
    pub work: PathBuf,
    /// The file that holds the server's URL.
    pub url_file: PathBuf,
    /// Whether engines run as other users.
    pub isolation: Isolation,
}

/// Tasks as child processes.
#[derive(Clone)]
pub struct LocalLauncher(Arc<Inner>);

struct Inner {
    settings: LauncherSettings,
    running: Mutex<HashSet<AttemptId>>,
    pruned: Mutex<Option<SystemTime>>,
    stopped: UnboundedSender<AttemptId>,
}

impl LocalLauncher {
    /// A launcher that knows again what earlier ones started in the directory. `stopped` is told of each task that has
    /// stopped, with all that it started; also of those that did before.
    pub fn open(settings: LauncherSettings, stopped: UnboundedSender<AttemptId>) -> io::Result<Self> {
        let settings = LauncherSettings { environment: without_own(settings.environment), ..settings };
        let inner =
            Arc::new(Inner { settings, running: Mutex::default(), pruned: Mutex::default(), stopped });
        for attempt in ticket::attempts_in(&inner.settings.directory)? {
            inner.meet_again(attempt)?;
        }
        Ok(Self(inner))
    }

    async fn blocking<T: Send + 'static>(
        &self,
        what: &'static str,
        attempt: AttemptId,
        work: impl FnOnce(&Arc<Inner>) -> io::Result<T> + Send + 'static,
    ) -> Result<T, PortError> {
        let inner = self.0.clone();
        let done = tokio::task::spawn_blocking(move || work(&inner)).await.map_err(io::Error::other);
        done.and_then(|done| done).map_err(|error| {
            PortError::transient(format!("{what} the task of {attempt} failed")).because(error)
        })
    }
}

#[async_trait]
impl Launcher for LocalLauncher {
    async fn start(&self, start: StartTask) -> Result<LaunchOutcome, PortError> {
        self.blocking("starting", start.attempt, move |inner| inner.start(&start)).await
    }

    async fn describe(&self, attempt: AttemptId) -> Result<TaskStatus, PortError> {
        self.blocking("describing", attempt, move |inner| inner.describe(attempt)).await
    }

    async fn kill(&self, attempt: AttemptId) -> Result<(), PortError> {
        self.blocking("killing", attempt, move |inner| inner.kill(attempt)).await
    }
}

impl Inner {
    fn ticket(&self, attempt: AttemptId) -> Ticket {
        Ticket::new(&self.settings.directory, attempt)
    }

    fn running(&self) -> MutexGuard<'_, HashSet<AttemptId>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kill(&self, attempt: AttemptId) -> io::Result<()> {
        let is_apart = self.settings.isolation != Isolation::Never && rustix::process::geteuid().is_root();
        self.ticket(attempt).kill_holders(is_apart.then(|| engine_user(attempt)))
    }

    /// Takes note of a task that an earlier launcher started.
    fn meet_again(self: &Arc<Self>, attempt: AttemptId) -> io::Result<()> {
        match self.ticket(attempt).condition()? {
            Condition::Held => {
                self.running().insert(attempt);
                self.clone().watch(attempt, None)?;
            }
            Condition::Used => {
                let _ = self.stopped.send(attempt);
            }
            Condition::Absent | Condition::Unused => {}
        }
        Ok(())
    }

    fn start(self: &Arc<Self>, start: &StartTask) -> io::Result<LaunchOutcome> {
        let mut running = self.running();
        let ticket = self.ticket(start.attempt);
        match ticket.condition()? {
            Condition::Held | Condition::Used => return Ok(LaunchOutcome::Started),
            Condition::Absent | Condition::Unused => {}
        }
        if running.len() >= self.settings.capacity {
            return Ok(LaunchOutcome::NoRoom(NO_ROOM));
        }
        let child = ticket.hand_to(|lock| self.spawn(start, lock, &ticket))?;
        running.insert(start.attempt);
        drop(running);
        self.clone().watch(start.attempt, Some(child))?;
        Ok(LaunchOutcome::Started)
    }

    fn spawn(&self, start: &StartTask, lock: Stdio, ticket: &Ticket) -> io::Result<Child> {
        let log = ticket.open_log()?;
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", KEEP_LOCK, "yuba task"])
            .arg(&self.settings.program)
            .args(&self.settings.arguments)
            .env_clear()
            .envs(&self.settings.environment)
            .env(names::URL_FILE, &self.settings.url_file)
            .env(names::TOKEN, start.token.expose_secret())
            .env(names::ATTEMPT, start.attempt.to_string())
            .env(names::WORK, &self.settings.work)
            .envs((self.settings.isolation == Isolation::Never).then_some((names::ISOLATION, "never")))
            .process_group(0)
            .stdin(lock)
            .stdout(log.try_clone()?)
            .stderr(log);
        #[expect(
            clippy::disallowed_methods,
            reason = "tasks are started here, and bounded by their deadlines"
        )]
        command.spawn()
    }

    /// Waits, on a thread of its own, until nothing of a task lives any more, and tells it.
    fn watch(self: Arc<Self>, attempt: AttemptId, child: Option<Child>) -> io::Result<()> {
        let watch = move || {
            let ticket = self.ticket(attempt);
            if let Some(Ok(ended)) = child.map(|mut child| child.wait()) {
                let how = match ended.signal() {
                    Some(signal) => format!("signal {signal}"),
                    None => format!("exit code {}", ended.code().unwrap_or(-1)),
                };
                ticket.write_end(&how);
            }
            if let Err(error) = ticket.wait_until_free() {
                tracing::error!(%attempt, %error, "a task's lock cannot be watched");
            }
            self.running().remove(&attempt);
            if let Err(error) = self.prune(&ticket) {
                tracing::warn!(%error, "files of tasks that ended long ago cannot be removed");
            }
            // Nobody listens where the server is about to end; the next one looks for itself.
            let _ = self.stopped.send(attempt);
        };
        thread::Builder::new().name(format!("task {attempt}")).spawn(watch).map(drop)
    }

    /// Removes the files of tasks that ended long before the one that has just ended, at most once an hour.
    fn prune(&self, ended: &Ticket) -> io::Result<()> {
        let now = ended.ended_at()?;
        let mut last = self.pruned.lock().unwrap_or_else(PoisonError::into_inner);
        let recently =
            last.is_some_and(|last| now.duration_since(last).is_ok_and(|since| since < PRUNE_EVERY));
        let (Some(before), false) = (now.checked_sub(TASK_KEPT), recently) else { return Ok(()) };
        *last = Some(now);
        for attempt in ticket::attempts_in(&self.settings.directory)? {
            self.ticket(attempt).remove_if_ended_before(before)?;
        }
        Ok(())
    }

    fn describe(&self, attempt: AttemptId) -> io::Result<TaskStatus> {
        let ticket = self.ticket(attempt);
        Ok(match ticket.condition()? {
            Condition::Absent | Condition::Unused => TaskStatus::NeverStarted,
            Condition::Held => TaskStatus::Running,
            Condition::Used => TaskStatus::Stopped { how: ticket.read_end() },
        })
    }
}
