//! All ports of an installation, as functions are handed them.

use std::sync::Arc;

use secrecy::SecretString;
use yuba_core::capacity::Caps;
use yuba_core::id::InstallationId;

use crate::{Blobs, Clock, Credentials, Ids, Launcher, Publisher, Queue, Secrets, Store, limited};

/// Everything a function may reach the world through.
#[derive(Clone)]
pub struct Ports {
    /// Which installation this is.
    pub installation: InstallationId,
    /// Records.
    pub store: Arc<dyn Store>,
    /// Messages.
    pub queue: Arc<dyn Queue>,
    /// Objects.
    pub blobs: Arc<dyn Blobs>,
    /// Tasks.
    pub launcher: Arc<dyn Launcher>,
    /// Events.
    pub publisher: Arc<dyn Publisher>,
    /// Secrets and config maps.
    pub secrets: Arc<dyn Secrets>,
    /// Roles.
    pub credentials: Arc<dyn Credentials>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub ids: Arc<dyn Ids>,
    /// The installation's own key: task tokens are HMACs under it, so that no token need be stored.
    pub key: SecretString,
}

impl Ports {
    /// The same ports, but that tasks are started within caps; see [`limited`].
    #[must_use]
    pub fn capped(self, caps: Caps) -> Self {
        let (store, queue, clock) = (self.store.clone(), self.queue.clone(), self.clock.clone());
        Self { launcher: limited(self.launcher, caps, (store, queue, clock)), ..self }
    }
}
