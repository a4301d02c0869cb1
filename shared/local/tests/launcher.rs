//! Tasks that are real processes: ended, killed, orphaned, and met again by a later launcher.
#![expect(clippy::unwrap_used, reason = "a test's helper fails the test")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use rustix::process::{Pid, Signal, kill_process};
use secrecy::SecretString;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::sync::{Mutex, MutexGuard};
use yuba_core::id::AttemptId;
use yuba_local::{LauncherSettings, LocalLauncher};
use yuba_ports::contract::{self, AsyncEnd, LauncherFixture, attempt};
use yuba_ports::{LaunchOutcome, Launcher, StartTask, TaskStatus};

/// One world at a time: between fork and exec, what one test starts holds the locks that others' tasks are just given, and
/// would be killed with them.
static ALONE: Mutex<()> = Mutex::const_new(());

struct World {
    _alone: MutexGuard<'static, ()>,
    directory: TempDir,
    stopped: Mutex<UnboundedReceiver<AttemptId>>,
}

/// A launcher whose tasks are a shell script.
fn launcher(directory: &Path, script: &str) -> (LocalLauncher, UnboundedReceiver<AttemptId>) {
    let (sender, stopped) = unbounded_channel();
    let environment = [("PATH", "/usr/bin:/bin"), ("YUBA_SERVER", "not inherited"), ("HOME", "/nowhere")];
    let settings = LauncherSettings {
        program: "/bin/sh".into(),
        arguments: vec!["-c".to_owned(), script.to_owned()],
        environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        capacity: 2,
        directory: directory.to_owned(),
        work: directory.join("work"),
        isolation: yuba_core::task::Isolation::WhereRoot,
        url_file: directory.join("server.url"),
    };
    (LocalLauncher::open(settings, sender).unwrap(), stopped)
}

fn world(script: &str) -> (LocalLauncher, World) {
    let alone = loop {
        match ALONE.try_lock() {
            Ok(alone) => break alone,
            Err(_) => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let directory = tempfile::tempdir().unwrap();
    let (launcher, stopped) = launcher(directory.path(), script);
    (launcher, World { _alone: alone, directory, stopped: Mutex::new(stopped) })
}

async fn start(launcher: &LocalLauncher, number: u32) -> LaunchOutcome {
    let token = SecretString::from("the token");
    launcher.start(StartTask { attempt: attempt(number), token }).await.unwrap()
}

fn stopped(how: &str) -> TaskStatus {
    TaskStatus::Stopped { how: how.to_owned() }
}

impl World {
    fn file(&self, number: u32, extension: &str) -> String {
        let file = self.directory.path().join(format!("{}.{extension}", attempt(number)));
        fs::read_to_string(file).unwrap_or_default()
    }

    /// Sends a signal to the first process of a task alone, once the task has noted which that is.
    fn signal_first(&self, number: u32, signal: Signal) {
        let pid = loop {
            match self.file(number, "lock").parse() {
                Ok(pid) => break pid,
                Err(_) => std::thread::yield_now(),
            }
        };
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }
}

#[async_trait]
impl AsyncEnd for World {
    async fn end(&self, attempt: AttemptId) {
        self.signal_first(attempt.number, Signal::TERM);
        assert_eq!(self.stopped.lock().await.recv().await, Some(attempt));
    }
}

#[tokio::test]
async fn the_launcher_keeps_its_contract() {
    let (launcher, world) = world("exec sleep 1000");
    contract::launcher(&LauncherFixture { launcher, end: Box::new(world) }).await;
}

#[tokio::test]
async fn a_task_gets_its_settings_and_leaves_its_log() {
    let (launcher, world) = world("env; echo failed >&2; exit 3");
    start(&launcher, 1).await;
    assert_eq!(world.stopped.lock().await.recv().await, Some(attempt(1)));
    assert_eq!(launcher.describe(attempt(1)).await.unwrap(), stopped("exit code 3"));
    let log = world.file(1, "log");
    let line = |start: &str| log.lines().find(|line| line.starts_with(start)).map(str::to_owned);
    assert_eq!(line("YUBA_ATTEMPT="), Some(format!("YUBA_ATTEMPT={}", attempt(1))));
    assert_eq!(line("YUBA_TASK_TOKEN=").as_deref(), Some("YUBA_TASK_TOKEN=the token"));
    assert_eq!((line("HOME=").as_deref(), line("YUBA_SERVER=")), (Some("HOME=/nowhere"), None));
    assert_eq!(line("failed").as_deref(), Some("failed"));
}

#[tokio::test]
async fn a_task_runs_as_long_as_anything_it_started() {
    // The shell ends at once; what it started leaves the process group and lives on.
    let (launcher, world) = world("setsid sleep 1000 & exit 0");
    start(&launcher, 1).await;
    while world.file(1, "end") != "exit code 0" {
        tokio::task::yield_now().await;
    }
    assert_eq!(launcher.describe(attempt(1)).await.unwrap(), TaskStatus::Running);
    launcher.kill(attempt(1)).await.unwrap();
    assert_eq!(launcher.describe(attempt(1)).await.unwrap(), stopped("exit code 0"));
    assert_eq!(world.stopped.lock().await.recv().await, Some(attempt(1)));
}

#[tokio::test]
async fn a_later_launcher_knows_what_an_earlier_one_started() {
    let (earlier, world) = world("exec sleep 1000");
    start(&earlier, 1).await;
    drop(earlier);
    let (later, mut news) = launcher(world.directory.path(), "exit 9");
    assert_eq!(later.describe(attempt(1)).await.unwrap(), TaskStatus::Running);
    assert_eq!(start(&later, 1).await, LaunchOutcome::Started);
    later.kill(attempt(1)).await.unwrap();
    assert_eq!(news.recv().await, Some(attempt(1)));
    assert!(matches!(later.describe(attempt(1)).await.unwrap(), TaskStatus::Stopped { .. }));
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "tests run programs as people do")]
async fn whoever_only_looks_at_a_lock_is_not_killed_with_the_task() {
    let (launcher, world) = world("sleep 1000 & exec sleep 1000");
    start(&launcher, 1).await;
    let lock = fs::File::open(world.directory.path().join(format!("{}.lock", attempt(1)))).unwrap();
    let mut looks = std::process::Command::new("sleep").arg("1000").stdin(lock).spawn().unwrap();
    launcher.kill(attempt(1)).await.unwrap();
    assert_eq!(launcher.describe(attempt(1)).await.unwrap(), stopped("signal 9"));
    let lives = looks.try_wait().unwrap().is_none();
    looks.kill().and_then(|()| looks.wait()).unwrap();
    assert!(lives, "it was killed too");
}

#[tokio::test]
async fn there_is_room_for_so_many() {
    let (launcher, world) = world("exec sleep 1000");
    assert_eq!([start(&launcher, 1).await, start(&launcher, 2).await], [const { LaunchOutcome::Started }; 2]);
    assert!(matches!(start(&launcher, 3).await, LaunchOutcome::NoRoom(_)));
    assert_eq!(launcher.describe(attempt(3)).await.unwrap(), TaskStatus::NeverStarted);
    launcher.kill(attempt(1)).await.unwrap();
    assert_eq!(world.stopped.lock().await.recv().await, Some(attempt(1)));
    assert_eq!(start(&launcher, 3).await, LaunchOutcome::Started);
    launcher.kill(attempt(2)).await.unwrap();
    launcher.kill(attempt(3)).await.unwrap();
}

#[tokio::test]
async fn a_start_that_was_cut_off_is_done_again() {
    let (launcher, world) = world("exit 0");
    fs::write(world.directory.path().join(format!("{}.lock", attempt(1))), "").unwrap();
    assert_eq!(launcher.describe(attempt(1)).await.unwrap(), TaskStatus::NeverStarted);
    start(&launcher, 1).await;
    assert_eq!(world.stopped.lock().await.recv().await, Some(attempt(1)));
    assert_eq!(launcher.describe(attempt(1)).await.unwrap(), stopped("exit code 0"));
}

#[tokio::test]
async fn a_task_whose_start_cannot_be_noted_is_not_started() {
    let (launcher, world) = world("echo began >> \"$YUBA_WORK\"");
    let lock = world.directory.path().join(format!("{}.lock", attempt(1)));
    symlink("/dev/full", &lock).unwrap();
    let token = SecretString::from("the token");
    let error = launcher.start(StartTask { attempt: attempt(1), token }).await.unwrap_err();
    assert!(error.source.unwrap().to_string().contains("No space left"));
    assert_eq!(launcher.describe(attempt(1)).await.unwrap(), TaskStatus::NeverStarted);
    start(&launcher, 1).await;
    assert_eq!(world.stopped.lock().await.recv().await, Some(attempt(1)));
    assert_eq!(fs::read_to_string(world.directory.path().join("work")).unwrap(), "began\n", "and began once");
}

#[tokio::test]
async fn a_task_begins_after_its_lock_names_it() {
    let (launcher, world) = world("[ \"$(cat \"${YUBA_WORK%work}$YUBA_ATTEMPT.lock\")\" = $$ ]");
    start(&launcher, 1).await;
    assert_eq!(world.stopped.lock().await.recv().await, Some(attempt(1)));
    assert_eq!(launcher.describe(attempt(1)).await.unwrap(), stopped("exit code 0"));
}

#[tokio::test]
async fn files_of_a_task_that_ended_long_ago_go_when_another_ends() {
    let (launcher, world) = world("exit 0");
    start(&launcher, 1).await;
    assert_eq!(world.stopped.lock().await.recv().await, Some(attempt(1)));
    let week_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
    for extension in ["lock", "end"] {
        let path = world.directory.path().join(format!("{}.{extension}", attempt(1)));
        fs::File::options().write(true).open(path).unwrap().set_modified(week_ago).unwrap();
    }
    let (later, mut news) = self::launcher(world.directory.path(), "exit 0");
    assert_eq!(news.recv().await, Some(attempt(1)));
    start(&later, 2).await;
    assert_eq!(news.recv().await, Some(attempt(2)));
    let left = |number: u32| {
        ["lock", "end", "log"]
            .map(|extension| world.directory.path().join(format!("{}.{extension}", attempt(number))).exists())
    };
    assert_eq!((left(1), left(2)), ([false; 3], [true; 3]));
}
