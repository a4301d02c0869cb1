//! Tells the orchestrator of tasks that have stopped, so that it need not wait until they are overdue.

use tokio::sync::mpsc::UnboundedReceiver;
use yuba_core::id::AttemptId;
use yuba_ports::{Ports, chain};

use super::stopping::Stopping;

/// Tells of each until the server is asked to stop.
pub(crate) async fn tell(ports: Ports, mut stopped: UnboundedReceiver<AttemptId>, stopping: Stopping) {
    loop {
        let attempt = tokio::select! {
            attempt = stopped.recv() => attempt,
            () = stopping.asked() => return,
        };
        let Some(attempt) = attempt else { return stopping.asked().await };
        if let Err(error) = yuba_tasks::stopped(&ports, attempt).await {
            tracing::error!(%attempt, error = chain(&error), "that a task has stopped cannot be told; its deadline will");
        }
    }
}
