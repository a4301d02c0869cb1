//! The contract of `Queue`.

use ulid::Ulid;
use yuba_core::id::{SourceName, StackId};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::time::{Span, Timestamp};

use crate::{Queue, QueueName, Received};

/// An empty queue, and the means to move its time.
pub struct QueueFixture<Q> {
    /// The queue.
    pub queue: Q,
    /// Moves its clock.
    pub advance: Box<dyn Fn(Span) + Send + Sync>,
    /// How long it hides a message that was received.
    pub visibility: Span,
}

/// Holds a queue to its contract; `fresh` makes an empty one.
pub async fn queue<Q: Queue>(mut fresh: impl AsyncFnMut() -> QueueFixture<Q>) {
    a_group_is_received_in_order_one_at_a_time(fresh().await).await;
    groups_do_not_wait_for_each_other(fresh().await).await;
    queues_are_apart(fresh().await).await;
    what_is_not_acknowledged_comes_again(fresh().await).await;
    what_is_released_comes_again_first(fresh().await).await;
    a_stale_receipt_does_nothing(fresh().await).await;
    a_repetition_is_dropped_for_five_minutes_at_most(fresh().await).await;
}

fn message(stack: u128, slot: i64) -> Message {
    let wake = Wake::Stack(StackId(Ulid::from_parts(1, stack)));
    Message::new(wake, Cause::Due { slot: Timestamp(slot) })
}

async fn take(queue: &impl Queue, most: usize) -> Vec<Received> {
    queue.receive(QueueName::Stacks, most, Span::ZERO).await.unwrap()
}

async fn one(queue: &impl Queue) -> Received {
    let mut received = take(queue, 1).await;
    assert_eq!(received.len(), 1, "a message is there to be received");
    received.remove(0)
}

async fn nothing(queue: &impl Queue) {
    assert_eq!(take(queue, 10).await, []);
}

async fn a_group_is_received_in_order_one_at_a_time<Q: Queue>(fixture: QueueFixture<Q>) {
    let queue = fixture.queue;
    queue.send(vec![message(1, 10), message(1, 11)]).await.unwrap();
    queue.send(vec![message(1, 12)]).await.unwrap();
    for slot in 10..=12 {
        let received = take(&queue, 10).await;
        assert_eq!(received.len(), 1, "one message of a group is out at a time");
        assert_eq!((&received[0].message, received[0].receives), (&message(1, slot), 1));
        nothing(&queue).await;
        queue.ack(&received[0]).await.unwrap();
    }
    nothing(&queue).await;
}

async fn groups_do_not_wait_for_each_other<Q: Queue>(fixture: QueueFixture<Q>) {
    let queue = fixture.queue;
    queue.send(vec![message(1, 1), message(1, 2), message(2, 1), message(3, 1)]).await.unwrap();
    let first = one(&queue).await;
    assert_eq!(first.message, message(1, 1));
    let others = take(&queue, 2).await;
    let messages: Vec<_> = others.iter().map(|received| received.message.clone()).collect();
    assert_eq!(messages, [message(2, 1), message(3, 1)]);
}

async fn queues_are_apart<Q: Queue>(fixture: QueueFixture<Q>) {
    let queue = fixture.queue;
    let source = Wake::Source(SourceName::new("default", "repository"));
    let source = Message::new(source, Cause::Due { slot: Timestamp(1) });
    queue.send(vec![source.clone(), message(1, 1)]).await.unwrap();
    assert_eq!(one(&queue).await.message, message(1, 1));
    let received = queue.receive(QueueName::Sources, 10, Span::ZERO).await.unwrap();
    assert_eq!(received.into_iter().map(|received| received.message).collect::<Vec<_>>(), [source]);
}

async fn what_is_not_acknowledged_comes_again<Q: Queue>(fixture: QueueFixture<Q>) {
    let queue = fixture.queue;
    queue.send(vec![message(1, 1), message(1, 2)]).await.unwrap();
    let first = one(&queue).await;
    (fixture.advance)(Span(fixture.visibility.0 - 1));
    nothing(&queue).await;
    (fixture.advance)(Span(1));
    let again = one(&queue).await;
    assert_eq!((&again.message, again.receives), (&message(1, 1), 2));
    assert_ne!(first.receipt, again.receipt);
    nothing(&queue).await;
}

async fn what_is_released_comes_again_first<Q: Queue>(fixture: QueueFixture<Q>) {
    let queue = fixture.queue;
    queue.send(vec![message(1, 1), message(1, 2)]).await.unwrap();
    queue.release(&one(&queue).await, Span::seconds(5)).await.unwrap();
    nothing(&queue).await;
    (fixture.advance)(Span::seconds(5));
    let again = one(&queue).await;
    assert_eq!(again.message, message(1, 1));
    queue.release(&again, Span::ZERO).await.unwrap();
    let again = one(&queue).await;
    assert_eq!((&again.message, again.receives), (&message(1, 1), 3));
    queue.ack(&again).await.unwrap();
    assert_eq!(one(&queue).await.message, message(1, 2));
}

async fn a_stale_receipt_does_nothing<Q: Queue>(fixture: QueueFixture<Q>) {
    let queue = fixture.queue;
    queue.send(vec![message(1, 1)]).await.unwrap();
    let stale = one(&queue).await;
    (fixture.advance)(fixture.visibility);
    let fresh = one(&queue).await;
    queue.release(&stale, Span::ZERO).await.unwrap();
    nothing(&queue).await;
    queue.ack(&stale).await.unwrap();
    (fixture.advance)(fixture.visibility);
    let again = one(&queue).await;
    assert_eq!((&again.message, again.receives), (&fresh.message, 3));
    queue.ack(&again).await.unwrap();
    queue.ack(&again).await.unwrap();
    nothing(&queue).await;
}

async fn a_repetition_is_dropped_for_five_minutes_at_most<Q: Queue>(fixture: QueueFixture<Q>) {
    let queue = fixture.queue;
    queue.send(vec![message(1, 1)]).await.unwrap();
    queue.send(vec![message(1, 1), message(1, 2)]).await.unwrap();
    let mut slots = 0;
    while let Some(received) = take(&queue, 1).await.pop() {
        queue.ack(&received).await.unwrap();
        slots += 1;
    }
    assert!((2..=3).contains(&slots), "a repetition may be dropped, nothing else");
    (fixture.advance)(Span::minutes(5));
    queue.send(vec![message(1, 1)]).await.unwrap();
    assert_eq!(one(&queue).await.message, message(1, 1));
}
