//! A world in memory: all ports, and the handles that a test moves and reads them by.

use std::sync::Arc;

use secrecy::SecretString;
use yuba_core::id::InstallationId;

use super::{
    MemoryBlobs, MemoryClock, MemoryCredentials, MemoryIds, MemoryLauncher, MemoryPublisher, MemoryQueue,
    MemorySecrets, MemoryStore,
};
use crate::Ports;

/// A world in memory. [`MemoryWorld::ports`] is what a function is handed; the fields are what the test holds.
#[derive(Clone)]
pub struct MemoryWorld {
    /// Time: moved by the test.
    pub clock: Arc<MemoryClock>,
    /// Ids: counted.
    pub ids: Arc<MemoryIds>,
    /// Records.
    pub store: Arc<MemoryStore>,
    /// Messages.
    pub queue: Arc<MemoryQueue>,
    /// Objects.
    pub blobs: Arc<MemoryBlobs>,
    /// Tasks: recorded, never run.
    pub launcher: Arc<MemoryLauncher>,
    /// Events: kept.
    pub publisher: Arc<MemoryPublisher>,
    /// Secrets and config maps.
    pub secrets: Arc<MemorySecrets>,
    /// Roles: recorded.
    pub credentials: Arc<MemoryCredentials>,
}

impl Default for MemoryWorld {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryWorld {
    /// An empty world on 2026-01-01T00:00:00Z.
    pub fn new() -> Self {
        let clock = Arc::new(MemoryClock::default());
        Self {
            ids: Arc::new(MemoryIds::new(clock.clone())),
            store: Arc::new(MemoryStore::default()),
            queue: Arc::new(MemoryQueue::new(clock.clone())),
            blobs: Arc::new(MemoryBlobs::default()),
            launcher: Arc::new(MemoryLauncher::default()),
            publisher: Arc::new(MemoryPublisher::default()),
            secrets: Arc::new(MemorySecrets::default()),
            credentials: Arc::new(MemoryCredentials::default()),
            clock,
        }
    }

    /// The ports, as functions are handed them.
    pub fn ports(&self) -> Ports {
        Ports {
            installation: InstallationId("test".to_owned()),
            store: self.store.clone(),
            queue: self.queue.clone(),
            blobs: self.blobs.clone(),
            launcher: self.launcher.clone(),
            publisher: self.publisher.clone(),
            secrets: self.secrets.clone(),
            credentials: self.credentials.clone(),
            clock: self.clock.clone(),
            ids: self.ids.clone(),
            key: SecretString::from("the key of a world in memory"),
        }
    }
}
