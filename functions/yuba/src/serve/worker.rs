//! Receives messages one by one and has them handled: acknowledged when that went well, given back when not.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use tracing::Instrument;
use yuba_core::message::Message;
use yuba_core::time::Span;
use yuba_ports::{PortError, Ports, QueueName, Received, Remedy};

use super::stopping::Stopping;

/// What handles a message.
pub(crate) type Handler = Arc<dyn Fn(Ports, Message) -> Handling + Send + Sync>;
/// A message being handled.
pub(crate) type Handling = Pin<Box<dyn Future<Output = Result<(), PortError>> + Send>>;

/// How long a receiver waits before it asks again.
const WAIT: Span = Span::minutes(1);
/// How long handling a message may take; less than the queue hides it for.
const PATIENCE: Duration = Duration::from_mins(10);
/// How often a message is handled whose handler says that trying again cannot help. A message only wakes, so dropping
/// it loses nothing that a record does not hold; keeping it would hold up all later ones of its group.
const MOST_RECEIVES: u32 = 8;

/// Receives and handles until the server is asked to stop; the message under way is finished.
pub(crate) async fn work(ports: Ports, queue: QueueName, handler: Handler, stopping: Stopping) {
    while !stopping.is_asked() {
        let received = tokio::select! {
            received = ports.queue.receive(queue, 1, WAIT) => received,
            () = stopping.asked() => return,
        };
        match received {
            Ok(received) => {
                for message in received {
                    handle(&ports, &message, &handler).await;
                }
            }
            Err(error) => {
                tracing::error!(queue = queue.as_str(), error = chain(&error), "messages cannot be received");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

async fn handle(ports: &Ports, received: &Received, handler: &Handler) {
    let id = received.message.deduplication_id();
    let span = tracing::info_span!("message", %id);
    let settled = match attempt(ports, received, handler).instrument(span.clone()).await {
        Ok(()) => ports.queue.ack(received).await,
        Err(error) => give_back_or_drop(ports, received, &error).instrument(span).await,
    };
    if let Err(error) = settled {
        tracing::error!(%id, error = chain(&error), "a message was handled and cannot be settled; it comes again");
    }
}

/// Handles a message on a task of its own, so that a handler that panics or hangs takes nobody with it.
async fn attempt(ports: &Ports, received: &Received, handler: &Handler) -> Result<(), PortError> {
    let handling = handler(ports.clone(), received.message.clone()).in_current_span();
    match tokio::spawn(tokio::time::timeout(PATIENCE, handling)).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(PortError::transient(format!("handling took longer than {PATIENCE:?}"))),
        Err(panicked) => Err(PortError::permanent("the handler broke off").because(panicked)),
    }
}

async fn give_back_or_drop(ports: &Ports, received: &Received, error: &PortError) -> Result<(), PortError> {
    let (message, times) = (&received.message, received.receives);
    let hopeless = error.remedy == Remedy::Permanent && times >= MOST_RECEIVES;
    if hopeless {
        tracing::error!(?message, times, error = chain(error), "a message is dropped: it cannot be handled");
        return ports.queue.ack(received).await;
    }
    if times == 1 {
        tracing::warn!(?message, error = chain(error), "a message could not be handled and comes again");
    } else {
        tracing::debug!(?message, times, error = chain(error), "a message could not be handled again");
    }
    ports.queue.release(received, pause(error.remedy, times)).await
}

/// How long a message rests before it comes again: doubling from a second to a minute, but as long as the error asks.
fn pause(remedy: Remedy, receives: u32) -> Span {
    let doubling = Span::seconds(1_i64 << (receives.clamp(1, 7) - 1)).min(Span::minutes(1));
    match remedy {
        Remedy::Wait(span) => span.max(Span::seconds(1)),
        Remedy::Permanent | Remedy::Transient => doubling,
    }
}

/// An error with all that lies beneath.
pub(crate) fn chain(error: &PortError) -> String {
    let mut text = error.to_string();
    let mut beneath = std::error::Error::source(error);
    while let Some(error) = beneath {
        text.push_str(": ");
        text.push_str(&error.to_string());
        beneath = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_rests_longer_each_time_up_to_a_minute() {
        let rests: Vec<i64> =
            [1, 2, 3, 6, 7, 50].map(|receives| pause(Remedy::Transient, receives).0 / 1000).into();
        assert_eq!(rests, [1, 2, 4, 32, 60, 60]);
        assert_eq!(pause(Remedy::Wait(Span::minutes(9)), 1), Span::minutes(9));
    }

    #[test]
    fn an_error_is_told_with_all_that_lies_beneath() {
        let error =
            PortError::transient("the top").because(PortError::permanent("the middle").because("the ground"));
        assert_eq!(chain(&error), "the top: the middle: the ground");
    }
}
