//! What the routes share.

use std::path::PathBuf;
use std::sync::Arc;

use yuba_core::id::{AttemptId, StackId};
use yuba_core::message::{AttemptNews, Cause, Message, Wake};
use yuba_ports::{ObjectGrants, PortError, Ports};

/// Settings of the `tasks` function.
#[derive(Clone)]
pub struct TaskSettings {
    /// Lets tasks reach their objects.
    pub objects: Arc<dyn ObjectGrants>,
    /// The directory that holds the state files of stacks for which nobody names a backend.
    pub local_state: Option<PathBuf>,
    /// Where downloaded providers are kept between attempts.
    pub provider_cache: Option<PathBuf>,
}

impl TaskSettings {
    /// The state file that is kept under a stack's id.
    pub(crate) fn state_file(&self, kept_as: StackId) -> Option<PathBuf> {
        self.local_state
            .as_ref()
            .map(|directory| directory.join(kept_as.to_string()).join("terraform.tfstate"))
    }
}

/// What the routes share. Cheap to clone.
#[derive(Clone)]
pub struct TasksState {
    /// The world.
    pub ports: Ports,
    /// Settings.
    pub settings: Arc<TaskSettings>,
}

impl TasksState {
    /// Wakes the attempt's stack.
    pub(crate) async fn wake(
        &self,
        stack: StackId,
        attempt: AttemptId,
        what: AttemptNews,
    ) -> Result<(), PortError> {
        let message = Message::new(Wake::Stack(stack), Cause::Attempt { attempt, what });
        self.ports.queue.send(vec![message]).await
    }
}
