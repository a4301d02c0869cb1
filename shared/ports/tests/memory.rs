//! The ports in memory keep the ports' contracts.

use std::sync::Arc;

use async_trait::async_trait;
use yuba_core::id::AttemptId;
use yuba_core::time::{Span, Timestamp};
use yuba_ports::contract::{self, AsyncEnd, LauncherFixture, QueueFixture};
use yuba_ports::memory::{MemoryBlobs, MemoryClock, MemoryLauncher, MemoryQueue, MemorySecrets, MemoryStore};
use yuba_ports::{Clock, LaunchOutcome, Launcher, PortError, StartTask, TaskStatus};

#[tokio::test]
async fn the_store_keeps_its_contract() {
    contract::store(async || MemoryStore::default()).await;
}

#[tokio::test]
async fn the_queue_keeps_its_contract() {
    contract::queue(async || {
        let clock = Arc::new(MemoryClock::default());
        let queue = MemoryQueue::new(clock.clone());
        let advance = Box::new(move |span| clock.advance(span));
        QueueFixture { queue, advance, visibility: MemoryQueue::VISIBILITY }
    })
    .await;
}

#[tokio::test]
async fn the_blobs_keep_their_contract() {
    let scratch = tempfile::tempdir().unwrap();
    contract::blobs(async || MemoryBlobs::default(), scratch.path()).await;
}

#[tokio::test]
async fn the_secrets_keep_their_contract() {
    contract::secrets(async || MemorySecrets::default()).await;
}

/// The recorded tasks, ended by their own handle.
#[derive(Clone, Default)]
struct Recorded(Arc<MemoryLauncher>);

#[async_trait]
impl AsyncEnd for Recorded {
    async fn end(&self, attempt: AttemptId) {
        self.0.stop(attempt, "exit code 0");
    }
}

#[async_trait]
impl Launcher for Recorded {
    async fn start(&self, start: StartTask) -> Result<LaunchOutcome, PortError> {
        self.0.start(start).await
    }
    async fn describe(&self, attempt: AttemptId) -> Result<TaskStatus, PortError> {
        self.0.describe(attempt).await
    }
    async fn kill(&self, attempt: AttemptId) -> Result<(), PortError> {
        self.0.kill(attempt).await
    }
}

#[tokio::test]
async fn the_launcher_keeps_its_contract() {
    let launcher = Recorded::default();
    let fixture = LauncherFixture { launcher: launcher.clone(), end: Box::new(launcher.clone()) };
    contract::launcher(&fixture).await;
    let started: Vec<u32> = launcher.0.started().iter().map(|start| start.attempt.number).collect();
    assert_eq!(started, [1, 2]);
}

#[test]
fn the_clock_moves_by_hand() {
    let clock = MemoryClock::default();
    clock.set(Timestamp(5));
    clock.advance(Span(2));
    assert_eq!(clock.now(), Timestamp(7));
}
