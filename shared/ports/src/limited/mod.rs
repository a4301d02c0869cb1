//! A [`Launcher`] that keeps to caps, around any other: a task is started once its attempt holds a slot of each pool that it
//! needs one of.
//!
//! A slot is written where none is, in one commit with the attempt's hold: so there are never more holds than slots, whoever
//! asks at the same moment and whatever crashes. Who gets none has a ticket in the line ([`yuba_core::capacity`]). Both lie in
//! the store; nothing is remembered here.

mod line;
mod release;
mod take;

use std::sync::Arc;

use async_trait::async_trait;
use yuba_core::capacity::Caps;
use yuba_core::id::AttemptId;

use crate::error::PortError;
use crate::launcher::{LaunchOutcome, Launcher, StartTask, TaskStatus};
use crate::{Clock, Queue, Store};
use take::Room;

/// A launcher that keeps to caps.
struct Limited {
    inner: Arc<dyn Launcher>,
    caps: Caps,
    store: Arc<dyn Store>,
    queue: Arc<dyn Queue>,
    clock: Arc<dyn Clock>,
}

/// A launcher that keeps to caps, around another: the same one where nothing is capped, so that nothing is read or written.
///
/// Everybody who starts tasks, hears of their end, or sweeps has to be given the same caps.
pub fn limited(
    inner: Arc<dyn Launcher>,
    caps: Caps,
    (store, queue, clock): (Arc<dyn Store>, Arc<dyn Queue>, Arc<dyn Clock>),
) -> Arc<dyn Launcher> {
    if caps.is_empty() { inner } else { Arc::new(Limited { inner, caps, store, queue, clock }) }
}

#[async_trait]
impl Launcher for Limited {
    async fn start(&self, start: StartTask) -> Result<LaunchOutcome, PortError> {
        match self.take(start.attempt).await? {
            Room::Held => self.inner.start(start).await,
            Room::None { wait, why } => Ok(LaunchOutcome::Waits { wait, why }),
        }
    }

    async fn describe(&self, attempt: AttemptId) -> Result<TaskStatus, PortError> {
        self.inner.describe(attempt).await
    }

    async fn kill(&self, attempt: AttemptId) -> Result<(), PortError> {
        self.inner.kill(attempt).await
    }

    async fn release(&self, attempt: AttemptId) -> Result<(), PortError> {
        self.inner.release(attempt).await?;
        if self.free(attempt).await? { self.wake_first().await } else { Ok(()) }
    }

    async fn sweep(&self) -> Result<(), PortError> {
        self.inner.sweep().await?;
        self.free_ended().await?;
        self.wake_first().await
    }
}
