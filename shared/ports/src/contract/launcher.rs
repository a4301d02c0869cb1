//! The contract of `Launcher`.

use secrecy::SecretString;
use ulid::Ulid;
use yuba_core::id::{AttemptId, Phase, RunId};

use crate::{LaunchOutcome, Launcher, StartTask, TaskStatus};

/// A launcher whose tasks run until they are ended.
pub struct LauncherFixture<L> {
    /// The launcher.
    pub launcher: L,
    /// Lets a running task end by itself, and returns when the launcher can know.
    pub end: Box<dyn AsyncEnd>,
}

/// Lets a running task end by itself.
#[async_trait::async_trait]
pub trait AsyncEnd: Send + Sync {
    /// Returns when the launcher can know of the end.
    async fn end(&self, attempt: AttemptId);
}

/// Holds a launcher to its contract.
pub async fn launcher<L: Launcher>(fixture: &LauncherFixture<L>) {
    let launcher = &fixture.launcher;
    assert_eq!(launcher.describe(attempt(9)).await.unwrap(), TaskStatus::NeverStarted);
    starting_twice_starts_one(launcher).await;
    fixture.end.end(attempt(1)).await;
    assert!(matches!(launcher.describe(attempt(1)).await.unwrap(), TaskStatus::Stopped { .. }));
    assert_eq!(start(launcher, 1).await, LaunchOutcome::Started, "it ran already");
    assert!(matches!(launcher.describe(attempt(1)).await.unwrap(), TaskStatus::Stopped { .. }));
    a_killed_task_has_stopped(launcher).await;
}

/// The attempts that the suite starts: 1 and 2.
pub fn attempt(number: u32) -> AttemptId {
    AttemptId { run: RunId(Ulid::from_parts(1, 1)), phase: Phase::Plan, number }
}

async fn start(launcher: &impl Launcher, number: u32) -> LaunchOutcome {
    let start = StartTask { attempt: attempt(number), token: SecretString::from("token") };
    launcher.start(start).await.unwrap()
}

async fn starting_twice_starts_one(launcher: &impl Launcher) {
    assert_eq!(start(launcher, 1).await, LaunchOutcome::Started);
    assert_eq!(launcher.describe(attempt(1)).await.unwrap(), TaskStatus::Running);
    assert_eq!(start(launcher, 1).await, LaunchOutcome::Started);
    assert_eq!(launcher.describe(attempt(1)).await.unwrap(), TaskStatus::Running);
}

async fn a_killed_task_has_stopped(launcher: &impl Launcher) {
    assert_eq!(start(launcher, 2).await, LaunchOutcome::Started);
    launcher.kill(attempt(2)).await.unwrap();
    let status = launcher.describe(attempt(2)).await.unwrap();
    assert!(matches!(status, TaskStatus::Stopped { .. }), "killed, and yet {status:?}");
    launcher.kill(attempt(2)).await.unwrap();
    launcher.kill(attempt(9)).await.unwrap();
}
