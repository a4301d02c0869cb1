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
    a_group_is_received_in_order_by_one_at_a_time(fresh().await).await;
    a_group_waits_for_all_that_were_received_together(fresh().await).await;
    what_was_received_together_comes_again_in_order(fresh().await).await;
    groups_do_not_wait_for_each_other(fresh().await).await;
    queues_are_apart(fresh().await).await;
    what_is_not_acknowledged_comes_again(fresh().await).await;
    what_is_released_comes_again_first(fresh().await).await;
    a_stale_receipt_does_nothing(fresh().await).await;
    a_repetition_is_dropped_for_five_minutes_at_most(fresh().await).await;
    what_is_set_aside_is_kept_with_its_reason_and_holds_nobody_up(fresh().await).await;
    dead_letters_are_sent_again_in_their_order(fresh().await).await;
    dead_letters_of_queues_are_apart(fresh().await).await;
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

/// Sends three messages of one group and receives them together, if the queue does: at least one, in order.
async fn together(queue: &impl Queue) -> Vec<Received> {
    queue.send(vec![message(1, 0), message(1, 1)]).await.unwrap();
    queue.send(vec![message(1, 2), message(2, 0)]).await.unwrap();
    let received = take(queue, 10).await;
    assert!(!received.is_empty(), "the first message of a group is there to be received");
    assert_slots(&received, 0);
    received
}

/// They are of the first group, in order, and begin with this one.
fn assert_slots(received: &[Received], from: i64) {
    let messages: Vec<Message> = received.iter().map(|received| received.message.clone()).collect();
    let expected: Vec<Message> = (from..).take(received.len()).map(|slot| message(1, slot)).collect();
    assert_eq!(messages, expected, "messages of one group are received together, in order");
}

async fn a_group_is_received_in_order_by_one_at_a_time<Q: Queue>(fixture: QueueFixture<Q>) {
    let queue = fixture.queue;
    queue.send(vec![message(1, 0), message(1, 1)]).await.unwrap();
    queue.send(vec![message(1, 2)]).await.unwrap();
    let mut next = 0;
    while next < 3 {
        let received = take(&queue, 2).await;
        assert!((1..=2).contains(&received.len()), "at least one, no more than were asked for");
        assert_slots(&received, next);
        assert!(received.iter().all(|received| received.receives == 1));
        for received in &received {
            nothing(&queue).await;
            queue.ack(received).await.unwrap();
            next += 1;
        }
    }
    nothing(&queue).await;
}

async fn a_group_waits_for_all_that_were_received_together<Q: Queue>(fixture: QueueFixture<Q>) {
    let queue = fixture.queue;
    let received = together(&queue).await;
    let other = one(&queue).await;
    assert_eq!(other.message, message(2, 0));
    queue.ack(&other).await.unwrap();
    let (last, before) = received.split_last().unwrap();
    for received in before {
        queue.ack(received).await.unwrap();
        nothing(&queue).await;
    }
    queue.release(last, Span::seconds(5)).await.unwrap();
    nothing(&queue).await;
    (fixture.advance)(Span::seconds(5));
    let again = one(&queue).await;
    assert_eq!((&again.message, again.receives), (&last.message, 2));
}

async fn what_was_received_together_comes_again_in_order<Q: Queue>(fixture: QueueFixture<Q>) {
    let queue = fixture.queue;
    let received = together(&queue).await;
    queue.ack(&one(&queue).await).await.unwrap();
    queue.ack(&received[0]).await.unwrap();
    for received in &received[1..] {
        queue.release(received, Span::seconds(5)).await.unwrap();
    }
    (fixture.advance)(Span::seconds(5));
    let mut next = 1;
    while next < 3 {
        let again = take(&queue, 10).await;
        assert_slots(&again, next);
        queue.ack(&again[0]).await.unwrap();
        for later in &again[1..] {
            queue.release(later, Span::ZERO).await.unwrap();
        }
        next += 1;
    }
    nothing(&queue).await;
}

async fn groups_do_not_wait_for_each_other<Q: Queue>(fixture: QueueFixture<Q>) {
    let queue = fixture.queue;
    queue.send(vec![message(1, 1), message(1, 2), message(2, 1), message(3, 1)]).await.unwrap();
    for stack in 1..=3 {
        assert_eq!(one(&queue).await.message, message(stack, 1));
    }
    nothing(&queue).await;
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

/// Receives the first message and sets it aside.
async fn set_aside(queue: &impl Queue, why: &str) -> Received {
    let received = one(queue).await;
    queue.set_aside(&received, why).await.unwrap();
    received
}

/// Its dead letters: the messages, with why they are there.
async fn dead(queue: &impl Queue) -> Vec<(Message, Option<String>)> {
    let letters = queue.dead_letters(QueueName::Stacks, 10).await.unwrap();
    let told = letters.into_iter().map(|letter| {
        let message: Message = serde_json::from_str(&letter.body).unwrap();
        assert_eq!(letter.group, message.group());
        (message, letter.why)
    });
    told.collect()
}

async fn what_is_set_aside_is_kept_with_its_reason_and_holds_nobody_up<Q: Queue>(fixture: QueueFixture<Q>) {
    let queue = fixture.queue;
    assert_eq!(dead(&queue).await, []);
    queue.send(vec![message(1, 1), message(1, 2), message(1, 3)]).await.unwrap();
    let first = set_aside(&queue, "it breaks off").await;
    set_aside(&queue, "ünlesbar\nin two lines").await;
    queue.set_aside(&first, "an old receipt does nothing").await.unwrap();
    assert_eq!(one(&queue).await.message, message(1, 3));
    let why = |why: &str| Some(why.to_owned());
    let expected = [(message(1, 1), why("it breaks off")), (message(1, 2), why("ünlesbar\nin two lines"))];
    assert_eq!(dead(&queue).await, expected);
    assert_eq!(queue.dead_letters(QueueName::Stacks, 1).await.unwrap().len(), 1);
}

/// At once: within the time in which a repetition may be dropped.
async fn dead_letters_are_sent_again_in_their_order<Q: Queue>(fixture: QueueFixture<Q>) {
    let queue = fixture.queue;
    queue.send(vec![message(1, 1), message(1, 2)]).await.unwrap();
    set_aside(&queue, "never").await;
    set_aside(&queue, "never").await;
    assert_eq!(queue.redrive(QueueName::Stacks, 10).await.unwrap(), 2);
    assert_eq!(dead(&queue).await, []);
    for slot in 1..=2 {
        let again = one(&queue).await;
        assert_eq!((&again.message, again.receives), (&message(1, slot), 1));
        queue.ack(&again).await.unwrap();
    }
    nothing(&queue).await;
    assert_eq!(queue.redrive(QueueName::Stacks, 10).await.unwrap(), 0);
}

async fn dead_letters_of_queues_are_apart<Q: Queue>(fixture: QueueFixture<Q>) {
    let queue = fixture.queue;
    queue.send(vec![message(1, 1), message(2, 1)]).await.unwrap();
    set_aside(&queue, "never").await;
    set_aside(&queue, "never").await;
    assert_eq!(queue.dead_letters(QueueName::Sources, 10).await.unwrap(), []);
    assert_eq!(queue.redrive(QueueName::Sources, 10).await.unwrap(), 0);
    assert_eq!(queue.redrive(QueueName::Stacks, 1).await.unwrap(), 1);
    assert_eq!(queue.dead_letters(QueueName::Stacks, 10).await.unwrap().len(), 1);
    // The same message may die, and be sent again, any number of times.
    set_aside(&queue, "never").await;
    assert_eq!(queue.dead_letters(QueueName::Stacks, 10).await.unwrap().len(), 2);
    assert_eq!(queue.redrive(QueueName::Stacks, 10).await.unwrap(), 2);
    queue.ack(&one(&queue).await).await.unwrap();
    queue.ack(&one(&queue).await).await.unwrap();
    nothing(&queue).await;
}
