//! Tells the orchestrator of tasks that have stopped, so that it need not wait until they are overdue.

use tokio::sync::mpsc::UnboundedReceiver;
use yuba_core::attempt::{Attempt, AttemptState};
use yuba_core::id::AttemptId;
use yuba_core::message::{AttemptNews, Cause, Message, Wake};
use yuba_core::record::Key;
use yuba_ports::records::load;
use yuba_ports::{PortError, Ports};

use super::stopping::Stopping;
use super::worker::chain;

/// Tells of each until the server is asked to stop.
pub(crate) async fn tell(ports: Ports, mut stopped: UnboundedReceiver<AttemptId>, stopping: Stopping) {
    loop {
        let attempt = tokio::select! {
            attempt = stopped.recv() => attempt,
            () = stopping.asked() => return,
        };
        let Some(attempt) = attempt else { return stopping.asked().await };
        if let Err(error) = tell_of(&ports, attempt).await {
            tracing::error!(%attempt, error = chain(&error), "that a task has stopped cannot be told; its deadline will");
        }
    }
}

/// Wakes the stack of an attempt that has not said itself how it ended.
async fn tell_of(ports: &Ports, attempt: AttemptId) -> Result<(), PortError> {
    let Some(record) = load::<Attempt>(&*ports.store, &Key::attempt(attempt)).await? else { return Ok(()) };
    match record.state {
        AttemptState::Reported | AttemptState::Closed => Ok(()),
        AttemptState::Issued | AttemptState::Claimed => {
            let cause = Cause::Attempt { attempt, what: AttemptNews::Stopped };
            ports.queue.send(vec![Message::new(Wake::Stack(record.stack), cause)]).await
        }
    }
}
