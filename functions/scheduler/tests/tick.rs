//! Ticks over a world in memory.
#![expect(clippy::unwrap_used, reason = "a test's helper fails the test")]

use ulid::Ulid;
use yuba_core::audit::{AUDIT_ANCHORS, AuditAnchor, AuditHead};
use yuba_core::capacity::{Caps, Hold, Pool, Slot, SlotRecord};
use yuba_core::effect::{Effect, PendingEffect};
use yuba_core::id::{
    AttemptId, AuditChain, AuditHash, ManifestSetName, ObjectName, Phase, RunId, SourceName, StackId,
    StackName,
};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::notify::{Notification, Occasion};
use yuba_core::record::Record;
use yuba_core::request::{Request, Signed};
use yuba_core::schedule::REQUEST_KEPT;
use yuba_core::source::{ManifestSetRecord, Source};
use yuba_core::spec::{GitReference, SourceSpec};
use yuba_core::stack::Stack;
use yuba_core::time::{Span, Timestamp};
use yuba_ports::memory::MemoryWorld;
use yuba_ports::records::{Versioned, put_any};
use yuba_ports::{Clock, Order, Query, Queue, QueueName, Store};
use yuba_scheduler::{Sweep, Ticked, tick, wake_unread};

fn now(world: &MemoryWorld) -> Timestamp {
    world.clock.now()
}

fn source(name: &str, due: Timestamp) -> Source {
    let (url, reference) = ("https://h/a".to_owned(), GitReference::Branch("main".to_owned()));
    Source {
        name: SourceName::new("default", name),
        spec: SourceSpec { url, reference, interval: Span::minutes(1), secret: None, suspend: false },
        set: ManifestSetName("flux".to_owned()),
        observation: 0,
        seen: None,
        definitions: 0,
        definitions_seen: 0,
        failure: None,
        due: Some(due),
        vanished: None,
    }
}

async fn store_source(world: &MemoryWorld, source: &Source) {
    world.store.commit(vec![put_any(source).unwrap()]).await.unwrap();
}

fn stack_with_effect(at: Timestamp) -> Stack {
    let id = StackId(Ulid::from_parts(1, 1));
    let mut stack = Stack::new(id, StackName::new("default", "net"), at);
    let effect = Effect::WakeDependants { run: RunId(Ulid::from_parts(1, 2)) };
    let key = effect.key();
    let (tries, trouble, given_up) = (0, None, false);
    stack.outbox.push(PendingEffect { key, effect, since: at, tries, due: at, trouble, given_up });
    stack.due = None;
    stack
}

/// Takes everything off the queues, as handlers that fail would not.
async fn handled(world: &MemoryWorld, queue: QueueName) -> Vec<Message> {
    let mut messages = Vec::new();
    loop {
        let received = world.queue.receive(queue, 10, Span::ZERO).await.unwrap();
        if received.is_empty() {
            return messages;
        }
        for received in received {
            world.queue.ack(&received).await.unwrap();
            messages.push(received.message);
        }
    }
}

#[tokio::test]
async fn each_kind_of_record_that_is_due_wakes_its_handler() {
    let world = MemoryWorld::new();
    let at = now(&world);
    let set = ManifestSetName("file:///srv/live@main//flux".to_owned());
    let manifests = ManifestSetRecord { name: set.clone(), due: Some(at), ..unread() };
    let stack = Stack { due: Some(at), ..stack_with_effect(at + Span::hours(1)) };
    let provider = ObjectName::new("infra", "chat");
    let of = Occasion::Again { stack: stack.id, event: 1, run: RunId(Ulid::from_parts(1, 2)) };
    let notice = Notification::new(provider.clone(), of, at).held(at, "no", at);
    let writes = [put_any(&manifests), put_any(&source("live", at)), put_any(&stack), put_any(&notice)];
    world.store.commit(writes.map(Result::unwrap).to_vec()).await.unwrap();
    assert_eq!(tick(&world.ports()).await.unwrap().sent, 4);
    let mut woken = Vec::new();
    for queue in QueueName::ALL {
        woken.extend(handled(&world, queue).await);
    }
    let expected = [
        Wake::Manifests(set),
        Wake::Source(SourceName::new("default", "live")),
        Wake::Stack(stack.id),
        Wake::Provider(provider),
    ];
    for wake in expected {
        assert!(woken.contains(&Message::new(wake, Cause::Due { slot: at })), "{woken:?}");
    }
}

fn unread() -> ManifestSetRecord {
    serde_json::from_value(serde_json::json!({
        "name": "flux", "snapshot": 0, "taken": 0, "values": {}, "findings": []
    }))
    .unwrap()
}

#[tokio::test]
async fn nothing_due_sends_nothing_and_says_when_to_look_again() {
    let world = MemoryWorld::new();
    assert_eq!(tick(&world.ports()).await.unwrap(), Ticked::default());
    let later = now(&world) + Span::minutes(5);
    store_source(&world, &source("live", later)).await;
    assert_eq!(tick(&world.ports()).await.unwrap(), Ticked { next_due: Some(later), ..Ticked::default() });
}

#[tokio::test]
async fn a_tick_says_how_long_things_wait() {
    let world = MemoryWorld::new();
    let begun = now(&world);
    store_source(&world, &source("late", begun)).await;
    store_source(&world, &source("later", begun + Span::seconds(5))).await;
    let stack = stack_with_effect(begun + Span::seconds(2));
    world.store.commit(vec![put_any(&stack).unwrap()]).await.unwrap();
    world.clock.advance(Span::seconds(9));
    let ticked = tick(&world.ports()).await.unwrap();
    assert_eq!(ticked.due_since, Some(begun));
    assert_eq!(ticked.effects_since, Some(begun + Span::seconds(2)));
}

#[tokio::test]
async fn a_place_of_manifests_without_a_record_is_woken_when_the_scheduler_starts() {
    let world = MemoryWorld::new();
    let names = ["https://h/known.git", "https://h/new.git"].map(|name| ManifestSetName(name.to_owned()));
    let known = ManifestSetRecord { name: names[0].clone(), ..unread() };
    world.store.commit(vec![put_any(&known).unwrap()]).await.unwrap();
    wake_unread(&world.ports(), &names).await.unwrap();
    let woken = handled(&world, QueueName::Sources).await;
    let wakes: Vec<Wake> = woken.into_iter().map(|message| message.wake).collect();
    assert_eq!(wakes, [Wake::Manifests(names[1].clone())]);
}

#[tokio::test]
async fn a_record_that_stays_due_is_woken_once_a_minute() {
    let world = MemoryWorld::new();
    store_source(&world, &source("live", now(&world))).await;
    let mut woken = Vec::new();
    for _ in 0..3 {
        for _ in 0..4 {
            tick(&world.ports()).await.unwrap();
            world.clock.advance(Span::seconds(15));
        }
        woken.push(handled(&world, QueueName::Sources).await.len());
    }
    assert_eq!(woken, [1, 1, 1]);
}

#[tokio::test]
async fn more_records_than_a_page_are_all_woken() {
    let world = MemoryWorld::new();
    for number in 0..250 {
        store_source(&world, &source(&format!("live-{number}"), now(&world))).await;
    }
    assert_eq!(tick(&world.ports()).await.unwrap().sent, 250);
    assert_eq!(handled(&world, QueueName::Sources).await.len(), 250);
}

#[tokio::test]
async fn a_stack_with_a_due_effect_is_woken_though_it_is_not_due_itself() {
    let world = MemoryWorld::new();
    let stack = stack_with_effect(now(&world));
    world.store.commit(vec![put_any(&stack).unwrap()]).await.unwrap();
    assert_eq!(tick(&world.ports()).await.unwrap().sent, 1);
    assert_eq!(handled(&world, QueueName::Stacks).await.len(), 1);
}

#[tokio::test]
async fn an_effect_that_is_due_later_is_said_to_be() {
    let world = MemoryWorld::new();
    let mut stack = stack_with_effect(now(&world));
    let later = now(&world) + Span::seconds(30);
    stack.outbox.first_mut().unwrap().due = later;
    world.store.commit(vec![put_any(&stack).unwrap()]).await.unwrap();
    assert_eq!(tick(&world.ports()).await.unwrap(), Ticked { next_due: Some(later), ..Ticked::default() });
}

#[tokio::test]
async fn a_request_is_forgotten_when_its_time_is_over() {
    let world = MemoryWorld::new();
    let request: Request =
        serde_json::from_str(include_str!("../../../shared/core/tests/golden/request.v1.json")).unwrap();
    let key = request.key();
    let put = put_any(&Request { by: Signed { at: now(&world), ..request.by.clone() }, ..request }).unwrap();
    world.store.commit(vec![put]).await.unwrap();
    world.clock.advance(Span(REQUEST_KEPT.0 - 60_000));
    tick(&world.ports()).await.unwrap();
    assert!(world.store.get(&key).await.unwrap().is_some());
    world.clock.advance(Span::minutes(2));
    tick(&world.ports()).await.unwrap();
    assert!(world.store.get(&key).await.unwrap().is_none());
}

/// A slot is held by an attempt that no record tells of.
async fn leaked_slot(world: &MemoryWorld) {
    let attempt = AttemptId { run: RunId(Ulid::from_parts(1, 2)), phase: Phase::Plan, number: 1 };
    let slot = Slot { pool: Pool::Installation, number: 1 };
    let (stack, since) = (StackId(Ulid::from_parts(1, 1)), now(world));
    let hold = Hold { attempt, stack, slots: vec![slot.clone()], since };
    let writes = vec![put_any(&hold).unwrap(), put_any(&SlotRecord { slot, attempt, tag: 1 }).unwrap()];
    world.store.commit(writes).await.unwrap();
}

#[tokio::test]
async fn room_that_nobody_released_is_swept_for_once_a_minute() {
    let world = MemoryWorld::new();
    let ports = world.ports().capped(Caps { installation: Some(1), ..Caps::default() });
    let (sweep, mut left) = (Sweep::default(), Vec::new());
    for seconds in [0, 10, 49] {
        leaked_slot(&world).await;
        world.clock.advance(Span::seconds(seconds));
        sweep.once_a_minute(&ports).await.unwrap();
        left.push(world.store.items().len());
    }
    assert_eq!(left, [0, 2, 0]);
}

async fn anchors(world: &MemoryWorld) -> Vec<AuditAnchor> {
    let query = Query::Partition {
        partition: AUDIT_ANCHORS.to_owned(),
        prefix: String::new(),
        order: Order::Ascending,
        after: None,
        limit: 100,
    };
    let items = world.store.query(query).await.unwrap().items;
    let read = |item| Versioned::<AuditAnchor>::from_item(item).unwrap().into_value();
    items.into_iter().map(read).collect()
}

#[tokio::test]
async fn the_audit_trail_is_anchored_once_a_day() {
    let world = MemoryWorld::new();
    let id = StackId(Ulid::from_parts(1, 1));
    let mut stack = Stack::new(id, StackName::new("default", "net"), now(&world));
    let (chain, hash) = (AuditChain::Stack(id), AuditHash::of(b"first"));
    stack.audit = Some(AuditHead { chain, number: 1, hash, at: now(&world) - Span::hours(2) });
    world.store.commit(vec![put_any(&stack).unwrap()]).await.unwrap();
    for _ in 0..3 {
        tick(&world.ports()).await.unwrap();
    }
    let first = anchors(&world).await;
    assert_eq!(first.iter().map(|anchor| &anchor.heads).collect::<Vec<_>>(), [&vec![stack.audit.unwrap()]]);
    world.clock.advance(Span::hours(24));
    tick(&world.ports()).await.unwrap();
    let second = anchors(&world).await;
    assert_eq!((second.len(), &second[1].heads), (2, &Vec::new()), "nothing was decided since");
    assert_eq!(second[1].previous, first[0].hash);
}
