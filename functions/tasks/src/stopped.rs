//! Tells the orchestrator of a task that has stopped, so that it need not wait until the attempt is overdue.

use yuba_core::attempt::{Attempt, AttemptState};
use yuba_core::id::AttemptId;
use yuba_core::message::{AttemptNews, Cause, Message, Wake};
use yuba_core::record::Key;
use yuba_ports::records::load;
use yuba_ports::{PortError, Ports};

/// Wakes the stack of an attempt that has not said itself how it ended, and releases its room.
pub async fn stopped(ports: &Ports, attempt: AttemptId) -> Result<(), PortError> {
    tell(ports, attempt).await?;
    ports.launcher.release(attempt).await
}

async fn tell(ports: &Ports, attempt: AttemptId) -> Result<(), PortError> {
    let Some(record) = load::<Attempt>(&*ports.store, &Key::attempt(attempt)).await? else { return Ok(()) };
    match record.state {
        AttemptState::Reported | AttemptState::Closed => Ok(()),
        AttemptState::Issued | AttemptState::Claimed => {
            let cause = Cause::Attempt { attempt, what: AttemptNews::Stopped };
            ports.queue.send(vec![Message::new(Wake::Stack(record.stack), cause)]).await
        }
    }
}
