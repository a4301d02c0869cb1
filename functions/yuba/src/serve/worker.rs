//! Receives messages and has them handled: acknowledged when that went well, given back when not.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tracing::Instrument;
use yuba_core::message::Message;
use yuba_core::time::Span;
use yuba_ports::{Next, PortError, Ports, QueueName, Received, chain};

use super::stopping::Stopping;

/// What handles messages of one group that were received together, in order: all of them, or none.
pub(crate) type Handler = Arc<dyn Fn(Ports, Vec<Message>) -> Handling + Send + Sync>;
/// Messages being handled.
pub(crate) type Handling = Pin<Box<dyn Future<Output = Result<(), PortError>> + Send>>;

/// How long a receiver waits before it asks again.
const WAIT: Span = Span::minutes(1);
/// How long handling messages may take; less than the queue hides it for.
const PATIENCE: Duration = Duration::from_mins(10);
/// Receives at most `most` messages of one group and has them handled together, until the server is asked to stop; those
/// under way are finished.
pub(crate) async fn work(ports: Ports, queue: QueueName, most: usize, handler: Handler, stopping: Stopping) {
    while !stopping.is_asked() {
        let received = tokio::select! {
            received = ports.queue.receive(queue, most, WAIT) => received,
            () = stopping.asked() => return,
        };
        match received {
            Ok(received) => handle(&ports, &received, &handler).await,
            Err(error) => {
                tracing::error!(queue = queue.as_str(), error = chain(&error), "messages cannot be received");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

async fn handle(ports: &Ports, received: &[Received], handler: &Handler) {
    let Some(first) = received.first() else { return };
    let id = first.message.deduplication_id();
    let span = tracing::info_span!("message", %id, together = received.len());
    let settled = async {
        let outcome = attempt(ports, received, handler).await;
        if let Err(error) = &outcome {
            tell(first, error);
        }
        join_all(received.iter().map(|received| settle(ports, received, outcome.as_ref()))).await;
    };
    settled.instrument(span).await;
}

/// Handles messages on a task of its own, so that a handler that panics or hangs takes nobody with it.
async fn attempt(ports: &Ports, received: &[Received], handler: &Handler) -> Result<(), PortError> {
    let messages = received.iter().map(|received| received.message.clone()).collect();
    let handling = handler(ports.clone(), messages).in_current_span();
    match tokio::spawn(tokio::time::timeout(PATIENCE, handling)).await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(_)) => Err(PortError::transient(format!("handling took longer than {PATIENCE:?}"))),
        Err(panicked) => Err(PortError::permanent("the handler broke off").because(panicked)),
    }
}

fn tell(Received { message, receives, .. }: &Received, error: &PortError) {
    if *receives == 1 {
        tracing::warn!(?message, error = chain(error), "a message could not be handled and comes again");
    } else {
        tracing::debug!(?message, receives, error = chain(error), "a message could not be handled again");
    }
}

async fn settle(ports: &Ports, received: &Received, outcome: Result<&(), &PortError>) {
    let settled = match outcome {
        Ok(()) => ports.queue.ack(received).await,
        Err(error) => give_back_or_set_aside(ports, received, error).await,
    };
    if let Err(error) = settled {
        let id = received.message.deduplication_id();
        tracing::error!(%id, error = chain(&error), "a message was handled and cannot be settled; it comes again");
    }
}

async fn give_back_or_set_aside(
    ports: &Ports,
    received: &Received,
    error: &PortError,
) -> Result<(), PortError> {
    let (message, times) = (&received.message, received.receives);
    if let Next::Again(pause) = Next::after_failure(error.remedy, times) {
        return ports.queue.release(received, pause).await;
    }
    let (queue, why) = (QueueName::of(message).as_str(), chain(error));
    tracing::error!(
        ?message,
        times,
        error = why,
        "a message cannot be handled: `yuba queue list {queue}` has it"
    );
    ports.queue.set_aside(received, &why).await
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use yuba_core::id::SourceName;
    use yuba_core::message::{Cause, Wake};
    use yuba_core::time::Timestamp;
    use yuba_ports::Queue;
    use yuba_ports::memory::MemoryWorld;

    use super::*;

    /// Three messages of one group, handled together as often as they come; how many came each time.
    async fn handled(error: fn() -> Result<(), PortError>, times: usize) -> (MemoryWorld, Vec<usize>) {
        let world = MemoryWorld::new();
        let wake = Wake::Source(SourceName::new("default", "live"));
        let message = |slot| Message::new(wake.clone(), Cause::Due { slot: Timestamp(slot) });
        world.queue.send((1..=3).map(message).collect()).await.unwrap();
        let came = Arc::new(Mutex::new(Vec::new()));
        let noted = came.clone();
        let handler: Handler = Arc::new(move |_, messages| {
            noted.lock().unwrap().push(messages.len());
            Box::pin(async move { error() })
        });
        for _ in 0..times {
            let received = world.queue.receive(QueueName::Sources, 10, WAIT).await.unwrap();
            handle(&world.ports(), &received, &handler).await;
            world.clock.advance(Span::minutes(1));
        }
        let came = came.lock().unwrap().clone();
        (world, came)
    }

    #[tokio::test]
    async fn messages_are_handled_together_and_acknowledged_or_given_back_together() {
        let (world, came) = handled(|| Ok(()), 2).await;
        assert_eq!((came, world.queue.pending().len()), (vec![3], 0));
        let (world, came) = handled(|| Err(PortError::transient("no")), 9).await;
        assert_eq!((came, world.queue.pending().len()), (vec![3; 9], 3));
    }

    #[tokio::test]
    async fn what_cannot_be_handled_for_good_is_set_aside_with_its_reason() {
        let (world, _) = handled(|| Err(PortError::permanent("never")), 7).await;
        assert_eq!(world.queue.pending().len(), 3);
        let (world, came) = handled(|| panic!("it breaks off"), 9).await;
        assert_eq!((came, world.queue.pending().len()), (vec![3; 8], 0));
        let dead = world.queue.dead_letters(QueueName::Sources, 10).await.unwrap();
        assert_eq!(dead.len(), 3);
        assert!(dead.iter().all(|dead| dead.why.as_ref().unwrap().starts_with("the handler broke off")));
    }
}
