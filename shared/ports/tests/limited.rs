//! Caps on tasks, over a world in memory in which those who come at the same moment do get between each other.
#![expect(clippy::unwrap_used, reason = "a test's helper fails the test")]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use secrecy::SecretString;
use tokio::task::{JoinSet, yield_now};
use ulid::Ulid;
use yuba_core::attempt::{Attempt, AttemptState};
use yuba_core::capacity::Caps;
use yuba_core::id::{AttemptId, Phase, RunId, SourceName, StackId};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::Key;
use yuba_core::time::Span;
use yuba_ports::contract::{self, AsyncEnd, LauncherFixture};
use yuba_ports::memory::{MemoryLauncher, MemoryStore, MemoryWorld};
use yuba_ports::records::{put_any, update};
use yuba_ports::{
    Committed, Item, LaunchOutcome, Launcher, Page, PortError, Query, Queue, QueueName, StartTask, Store,
    TaskStatus, Write, limited,
};

/// Lets others go first at each call.
struct Interleaved(Arc<MemoryStore>);

#[async_trait]
impl Store for Interleaved {
    async fn get(&self, key: &Key) -> Result<Option<Item>, PortError> {
        yield_now().await;
        self.0.get(key).await
    }
    async fn commit(&self, writes: Vec<Write>) -> Result<Committed, PortError> {
        yield_now().await;
        self.0.commit(writes).await
    }
    async fn query(&self, query: Query) -> Result<Page, PortError> {
        yield_now().await;
        self.0.query(query).await
    }
}

/// The recorded tasks, unless no answer comes.
#[derive(Default)]
struct Failing {
    tasks: Arc<MemoryLauncher>,
    fails: AtomicBool,
}

#[async_trait]
impl Launcher for Failing {
    async fn start(&self, start: StartTask) -> Result<LaunchOutcome, PortError> {
        if self.fails.load(Ordering::SeqCst) {
            return Err(PortError::transient("no answer"));
        }
        self.tasks.start(start).await
    }
    async fn describe(&self, attempt: AttemptId) -> Result<TaskStatus, PortError> {
        self.tasks.describe(attempt).await
    }
    async fn kill(&self, attempt: AttemptId) -> Result<(), PortError> {
        self.tasks.kill(attempt).await
    }
}

#[derive(Clone)]
struct World {
    memory: MemoryWorld,
    inner: Arc<Failing>,
    launcher: Arc<dyn Launcher>,
}

impl World {
    /// A world with a cap on the installation, and caps per label.
    fn capped(installation: u32, labels: &str) -> Self {
        let labels = if labels.is_empty() { BTreeMap::new() } else { Caps::read_labels(labels).unwrap() };
        let memory = MemoryWorld::new();
        let store = Arc::new(Interleaved(memory.store.clone()));
        let inner = Arc::new(Failing { tasks: memory.launcher.clone(), fails: AtomicBool::new(false) });
        let caps = Caps { installation: Some(installation), labels };
        let ports = (store as Arc<dyn Store>, memory.queue.clone() as _, memory.clock.clone() as _);
        Self { launcher: limited(inner.clone(), caps, ports), inner, memory }
    }

    /// An attempt of a stack of its own is issued.
    async fn issued(&self, number: u128, source: &str, labels: &[(&str, &str)]) -> AttemptId {
        let run = RunId(Ulid::from_parts(7, number));
        let id = AttemptId { run, phase: Phase::Plan, number: 1 };
        self.issue(id, source, labels).await;
        id
    }

    async fn issue(&self, id: AttemptId, source: &str, labels: &[(&str, &str)]) {
        let golden = include_str!("../../core/tests/golden/attempt.v1.json");
        let mut attempt: Attempt = serde_json::from_str(golden).unwrap();
        (attempt.id, attempt.state, attempt.stack) = (id, AttemptState::Issued, StackId(id.run.0));
        attempt.job.spec.source = SourceName::new("infra", source);
        let label = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        attempt.job.spec.labels = labels.iter().map(label).collect();
        self.memory.store.commit(vec![put_any(&attempt).unwrap()]).await.unwrap();
    }

    async fn start(&self, attempt: AttemptId) -> LaunchOutcome {
        let start = StartTask { attempt, token: SecretString::from("token") };
        self.launcher.start(start).await.unwrap()
    }

    async fn starts(&self, attempt: AttemptId) -> bool {
        self.start(attempt).await == LaunchOutcome::Started
    }

    /// All at the same moment.
    async fn start_all(&self, attempts: &[AttemptId]) {
        let mut starts = JoinSet::new();
        for attempt in attempts.iter().copied() {
            let world = self.clone();
            starts.spawn(async move { world.start(attempt).await });
        }
        while starts.join_next().await.transpose().unwrap().is_some() {}
    }

    async fn is_now(&self, attempt: AttemptId, state: AttemptState) {
        let set = |record: &mut Attempt| {
            record.state = state;
            true
        };
        update::<Attempt, _>(&*self.memory.store, &Key::attempt(attempt), set).await.unwrap();
    }

    async fn reports(&self, attempt: AttemptId) {
        self.is_now(attempt, AttemptState::Reported).await;
        self.launcher.release(attempt).await.unwrap();
    }

    /// Who was woken because there is room, in order.
    async fn woken(&self) -> Vec<AttemptId> {
        let mut woken = Vec::new();
        loop {
            let received = self.memory.queue.receive(QueueName::Stacks, 10, Span::ZERO).await.unwrap();
            if received.is_empty() {
                return woken;
            }
            for received in received {
                self.memory.queue.ack(&received).await.unwrap();
                woken.extend(has_room(&received.message));
            }
        }
    }

    /// Who started, in order.
    fn started(&self) -> Vec<AttemptId> {
        self.memory.launcher.started().iter().map(|start| start.attempt).collect()
    }

    /// Records of the caps: what sort keys, or partitions, start with this.
    fn count(&self, prefix: &str) -> usize {
        let is_of = |key: &Key| key.sort.starts_with(prefix) || key.partition.starts_with(prefix);
        self.memory.store.items().iter().filter(|item| is_of(&item.key)).count()
    }
}

#[async_trait]
impl AsyncEnd for World {
    async fn end(&self, attempt: AttemptId) {
        self.memory.launcher.stop(attempt, "exit code 0");
    }
}

/// What is around what, for the suite.
struct Outer(Arc<dyn Launcher>);

#[async_trait]
impl Launcher for Outer {
    async fn start(&self, start: StartTask) -> Result<LaunchOutcome, PortError> {
        self.0.start(start).await
    }
    async fn describe(&self, attempt: AttemptId) -> Result<TaskStatus, PortError> {
        self.0.describe(attempt).await
    }
    async fn kill(&self, attempt: AttemptId) -> Result<(), PortError> {
        self.0.kill(attempt).await
    }
}

/// The attempt that a message wakes because there is room.
fn has_room(message: &Message) -> Option<AttemptId> {
    let Cause::Room { attempt, .. } = message.cause else { return None };
    assert_eq!(message.wake, Wake::Stack(StackId(attempt.run.0)));
    Some(attempt)
}

#[tokio::test]
async fn a_launcher_with_caps_keeps_the_contract_of_launchers() {
    let world = World::capped(2, "");
    for number in [1, 2] {
        world.issue(contract::attempt(number), "live", &[]).await;
    }
    let launcher = Outer(world.launcher.clone());
    contract::launcher(&LauncherFixture { launcher, end: Box::new(world.clone()) }).await;
    assert_eq!(world.started().len(), 2);
}

#[tokio::test]
async fn without_caps_the_launcher_is_the_same_one() {
    let memory = MemoryWorld::new();
    let inner: Arc<dyn Launcher> = memory.launcher.clone();
    let ports =
        (memory.store.clone() as Arc<dyn Store>, memory.queue.clone() as _, memory.clock.clone() as _);
    assert!(Arc::ptr_eq(&limited(inner.clone(), Caps::default(), ports), &inner));
}

#[tokio::test]
async fn a_cap_is_exact_however_many_start_at_once() {
    let world = World::capped(7, "env=prod:3");
    let mut attempts = Vec::new();
    for number in 0..40 {
        let env = if number % 2 == 0 { "prod" } else { "dev" };
        attempts.push(world.issued(number, "live", &[("env", env)]).await);
    }
    // Each is asked for twice, as messages are delivered twice.
    for _ in 0..4 {
        world.start_all(&[&attempts[..], &attempts].concat()).await;
        let started = world.started();
        let prod = started.iter().filter(|attempt| attempt.run.0.random() % 2 == 0).count();
        assert!(started.len() <= 7 && prod <= 3, "{} tasks, {prod} of them prod", started.len());
    }
    assert_eq!((world.count("hold#"), world.count("slot#installation")), (7, 7));
    assert_eq!((world.count("ticket#"), world.count("tickets"), world.count("turns#")), (33, 33, 33));
}

#[tokio::test]
async fn who_waits_is_told_which_cap_is_full() {
    let world = World::capped(2, "env=prod:1");
    let prod = [("env", "prod")];
    assert!(world.starts(world.issued(1, "live", &prod).await).await);
    let second = world.start(world.issued(2, "live", &prod).await).await;
    let LaunchOutcome::Waits { why, .. } = second else { panic!("{second:?}") };
    assert_eq!(why, "waits for room: the cap of 1 at once for env=prod is reached");
    assert!(world.starts(world.issued(3, "live", &[]).await).await, "it does not stand behind the second");
    let fourth = world.start(world.issued(4, "live", &[]).await).await;
    let LaunchOutcome::Waits { why, .. } = fourth else { panic!("{fourth:?}") };
    assert_eq!(why, "waits for room: the installation's cap of 2 at once is reached");
}

#[tokio::test]
async fn a_fan_out_does_not_hold_up_another_source() {
    let world = World::capped(1, "");
    let first = world.issued(0, "big", &[]).await;
    assert!(world.starts(first).await);
    for number in 1..=150 {
        assert!(!world.starts(world.issued(number, "big", &[]).await).await);
    }
    let single = world.issued(999, "small", &[]).await;
    assert!(!world.starts(single).await);
    let mut out = first;
    for _ in 0..2 {
        world.reports(out).await;
        let woken = world.woken().await;
        assert_eq!(woken.len(), 1, "one slot came free");
        out = woken[0];
        assert!(world.starts(out).await);
    }
    assert_eq!(out, single, "it is the second of 151 that waited");
}

#[tokio::test]
async fn who_comes_when_a_slot_came_free_does_not_pass_who_waits() {
    let world = World::capped(1, "");
    let (first, second) = (world.issued(1, "a", &[]).await, world.issued(2, "a", &[]).await);
    assert!(world.starts(first).await && !world.starts(second).await);
    world.reports(first).await;
    let third = world.issued(3, "b", &[]).await;
    let waits = world.start(third).await;
    assert!(
        matches!(&waits, LaunchOutcome::Waits { why, .. } if why.contains("others came first")),
        "{waits:?}"
    );
    assert!(world.starts(second).await && !world.starts(third).await);
}

#[tokio::test]
async fn a_start_whose_answer_was_lost_keeps_its_slot_and_takes_no_other() {
    let world = World::capped(2, "");
    let attempt = world.issued(1, "live", &[]).await;
    world.inner.fails.store(true, Ordering::SeqCst);
    let start = StartTask { attempt, token: SecretString::from("token") };
    world.launcher.start(start).await.unwrap_err();
    world.inner.fails.store(false, Ordering::SeqCst);
    assert!(world.starts(attempt).await);
    assert_eq!(world.count("slot#"), 1);
    world.reports(attempt).await;
    assert!(world.starts(attempt).await, "it ran already");
    assert_eq!(world.count("slot#") + world.count("hold#"), 0, "and holds nothing any more");
}

#[tokio::test]
async fn what_is_released_twice_wakes_once() {
    let world = World::capped(1, "");
    let (first, second) = (world.issued(1, "a", &[]).await, world.issued(2, "a", &[]).await);
    assert!(world.starts(first).await && !world.starts(second).await);
    world.reports(first).await;
    world.launcher.release(first).await.unwrap();
    assert_eq!(world.woken().await, [second]);
    assert!(world.starts(second).await);
    assert_eq!(world.count("ticket"), 0);
}

#[tokio::test]
async fn a_sweep_frees_what_ended_attempts_hold_and_wakes_who_waits() {
    let world = World::capped(2, "");
    let (first, second) = (world.issued(1, "a", &[]).await, world.issued(2, "a", &[]).await);
    let (third, fourth) = (world.issued(3, "a", &[]).await, world.issued(4, "a", &[]).await);
    world.start_all(&[first, second]).await;
    assert!(!world.starts(third).await && !world.starts(fourth).await);
    world.launcher.sweep().await.unwrap();
    assert_eq!(world.woken().await, [], "both tasks may still act");
    // The first is closed without anybody releasing it, and the third is given up while it waits.
    world.is_now(first, AttemptState::Closed).await;
    world.is_now(third, AttemptState::Closed).await;
    world.launcher.sweep().await.unwrap();
    assert_eq!(world.woken().await, [fourth]);
    assert!(world.starts(fourth).await);
    assert_eq!((world.count("hold#"), world.count("ticket"), world.count("turns#")), (2, 0, 0));
}

#[tokio::test]
async fn a_wake_that_was_lost_comes_with_the_next_sweep() {
    let world = World::capped(1, "");
    let (first, second) = (world.issued(1, "a", &[]).await, world.issued(2, "a", &[]).await);
    assert!(world.starts(first).await && !world.starts(second).await);
    world.reports(first).await;
    assert_eq!(world.woken().await, [second]);
    world.memory.clock.advance(Span::minutes(1));
    world.launcher.sweep().await.unwrap();
    assert_eq!(world.woken().await, [second]);
}
