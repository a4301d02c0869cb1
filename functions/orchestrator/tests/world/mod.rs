//! One defined stack over ports in memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use ulid::Ulid;
use yuba_core::attempt::{Attempt, AttemptReport, AttemptState};
use yuba_core::audit::{AUDIT, AuditEntry};
use yuba_core::capacity::{Caps, Hold, Pool, Slot, SlotRecord};
use yuba_core::effect::{Effect, PendingEffect};
use yuba_core::event::EventKind;
use yuba_core::id::{
    AttemptId, ClosureDigest, ContentDigest, FileDigest, ManifestSetName, Phase, RequestId, RunId,
    SourceName, StackId, StackName,
};
use yuba_core::message::{AttemptNews, Cause, Message, Wake};
use yuba_core::plan::summary::{PlanCounts, PlanReport};
use yuba_core::record::{Edge, Key, Record};
use yuba_core::request::{Ask, Request, Signed};
use yuba_core::run::{Failure, FailureClass, Run};
use yuba_core::source::{CommitFacts, Definition, Observation};
use yuba_core::spec::{EngineTool, StackSpec};
use yuba_core::stack::Stack;
use yuba_core::state_address::{BackendBlock, CodeBackend, known_address};
use yuba_core::time::{Span, Timestamp};
use yuba_core::trouble::{MANY, TroubleNotice};
use yuba_orchestrator::{Handled, handle};
use yuba_ports::memory::MemoryWorld;
use yuba_ports::records::{Versioned, load, page, put_any, update};
use yuba_ports::{
    Clock, Committed, Item, Order, Page, PortError, Ports, Query, Queue, QueueName, Store, TaskStatus, Write,
};

/// The world.
pub(crate) struct World {
    pub(crate) memory: MemoryWorld,
    pub(crate) id: StackId,
    pub(crate) other: StackId,
    racing: Arc<Racing>,
    cap: Mutex<Option<u32>>,
}

/// A store in which another writer comes first, as often as it is told.
struct Racing {
    inner: Arc<dyn Store>,
    due: AtomicUsize,
    run: AtomicUsize,
    /// What another function writes just before the next commit.
    before: Mutex<Vec<Write>>,
    /// It refuses to delete what begins so.
    keeps: Mutex<Option<&'static str>>,
}

#[async_trait]
impl Store for Racing {
    async fn get(&self, key: &Key) -> Result<Option<Item>, PortError> {
        self.inner.get(key).await
    }
    async fn commit(&self, writes: Vec<Write>) -> Result<Committed, PortError> {
        let before = std::mem::take(&mut *self.before.lock().unwrap());
        self.inner.commit(before).await?;
        let kept = *self.keeps.lock().unwrap();
        let is_kept = |write: &Write| kept.is_some_and(|kept| write.key().partition.starts_with(kept));
        if writes.iter().any(|write| matches!(write, Write::Delete { .. }) && is_kept(write)) {
            return Err(PortError::permanent("the store refuses that"));
        }
        if self.due.swap(0, Ordering::SeqCst) > 0 {
            self.run.fetch_add(1, Ordering::SeqCst);
            let Some(Write::Put { key, .. }) = writes.first() else { return Ok(Committed::Done) };
            return Ok(Committed::Conflict(key.clone()));
        }
        self.inner.commit(writes).await
    }
    async fn query(&self, query: Query) -> Result<Page, PortError> {
        self.inner.query(query).await
    }
}

impl World {
    /// A stack that is planned without asking, its settings changed.
    pub(crate) async fn new(change: impl FnOnce(&mut StackSpec)) -> Self {
        let memory = MemoryWorld::new();
        let racing = Arc::new(Racing {
            inner: memory.store.clone(),
            due: AtomicUsize::new(0),
            run: AtomicUsize::new(0),
            before: Mutex::default(),
            keeps: Mutex::default(),
        });
        let world = Self {
            memory,
            id: StackId(Ulid::from_parts(1, 1)),
            other: StackId(Ulid::from_parts(1, 2)),
            racing,
            cap: Mutex::default(),
        };
        let mut spec = StackSpec::new(SourceName::new("infra", "code"), "network", Span::minutes(10));
        change(&mut spec);
        let definition = Definition {
            stack: world.id,
            name: StackName::new("infra", "network"),
            set: ManifestSetName("flux".to_owned()),
            snapshot: 1,
            spec,
            place: "flux/network.yaml:1".to_owned(),
            vanished: None,
            author: None,
            author_known_by: None,
            author_identity: None,
            held_back: None,
            may_be: Vec::new(),
        };
        world.put(&definition).await;
        world
    }

    async fn put<T: Record>(&self, record: &T) {
        let committed = self.memory.store.commit(vec![put_any(record).unwrap()]).await.unwrap();
        assert_eq!(committed, Committed::Done);
    }

    fn ports(&self) -> Ports {
        let caps = Caps { installation: *self.cap.lock().unwrap(), ..Caps::default() };
        Ports { store: self.racing.clone(), ..self.memory.ports() }.capped(caps)
    }

    /// Another writer will come first once.
    pub(crate) fn race(&self) {
        self.racing.due.store(1, Ordering::SeqCst);
    }

    /// The manifest will change after the next decision has read it, and before that is committed.
    pub(crate) async fn edits_meanwhile(&self, change: impl FnOnce(&mut StackSpec)) {
        let key = Key::definition(self.id);
        let mut definition = load::<Definition>(&*self.memory.store, &key).await.unwrap().unwrap();
        change(&mut definition.spec);
        self.racing.before.lock().unwrap().push(definition.put().unwrap());
    }

    /// A plan with changes is reported.
    pub(crate) async fn planned(&self) {
        let report = self.plan_report().await;
        self.reports(AttemptReport::Planned(report)).await;
    }

    /// How often another writer came first.
    pub(crate) fn races(&self) -> usize {
        self.racing.run.load(Ordering::SeqCst)
    }

    /// Git holds a new closure for the stack, and it is woken.
    pub(crate) async fn observed(&self, letter: &str) -> Handled {
        let source = SourceName::new("infra", "code");
        self.put(&self.observation(letter)).await;
        self.wake(Cause::Observation { source, number: 1 }).await
    }

    fn observation(&self, letter: &str) -> Observation {
        let commit = letter.repeat(40);
        Observation {
            stack: self.id,
            source: SourceName::new("infra", "code"),
            number: 1,
            revision: format!("main@sha1:{commit}").parse().unwrap(),
            tree: commit.parse().unwrap(),
            closure: ClosureDigest::of(letter.as_bytes()),
            path: Some("network".to_owned()),
            backend: state(),
            changed: Vec::new(),
            changed_count: 0,
            problems: Vec::new(),
            notices: Vec::new(),
            commit: CommitFacts {
                id: commit.parse().unwrap(),
                author: "ada".to_owned(),
                subject: "Change".to_owned(),
            },
            brought: Vec::new(),
            at: self.memory.clock.now(),
        }
    }

    /// There may be so many tasks at once.
    pub(crate) fn capped_at(&self, most: u32) {
        *self.cap.lock().unwrap() = Some(most);
    }

    /// A task of another stack holds the only slot; or does so no more, and says so.
    pub(crate) async fn other_holds_a_slot(&self) {
        let attempt = AttemptId { run: RunId(self.other.0), phase: Phase::Plan, number: 1 };
        let slot = Slot { pool: Pool::Installation, number: 1 };
        self.put(&SlotRecord { slot: slot.clone(), attempt, tag: 1 }).await;
        self.put(&Hold { attempt, stack: self.other, slots: vec![slot], since: self.memory.clock.now() })
            .await;
    }

    /// That task has reported; whoever is told of room by that is woken.
    pub(crate) async fn other_reports(&self) {
        let attempt = AttemptId { run: RunId(self.other.0), phase: Phase::Plan, number: 1 };
        self.ports().launcher.release(attempt).await.unwrap();
        let received = self.memory.queue.receive(QueueName::Stacks, 10, Span::ZERO).await.unwrap();
        for received in received {
            self.memory.queue.ack(&received).await.unwrap();
            handle(&self.ports(), &received.message).await.unwrap();
        }
    }

    async fn wake(&self, cause: Cause) -> Handled {
        handle(&self.ports(), &Message::new(Wake::Stack(self.id), cause)).await.unwrap()
    }

    /// Another stack names a state; the same one where its code lies in the same bucket.
    pub(crate) async fn twin(&self, backend: CodeBackend) {
        let load = |key| load::<Definition>(&*self.memory.store, key);
        let definition = load(&Key::definition(self.id)).await.unwrap().unwrap().into_value();
        let name = StackName::new("infra", "twin");
        let twin = Definition { stack: self.other, name: name.clone(), ..definition };
        let seen = self.observation("a");
        let seen = Observation { stack: self.other, backend, ..seen };
        let address = known_address(&twin.spec, Some(&seen)).digest().unwrap();
        self.put(&Edge { at: Key::state(address, self.other), stack: self.other, name }).await;
        self.put(&twin).await;
        self.put(&seen).await;
    }

    /// All entries of the audit trail.
    pub(crate) async fn trail(&self) -> Vec<AuditEntry> {
        let query = Query::Partition {
            partition: AUDIT.to_owned(),
            prefix: String::new(),
            order: Order::Ascending,
            after: None,
            limit: 100,
        };
        let (entries, _) = page(&*self.memory.store, query).await.unwrap();
        entries.into_iter().map(Versioned::into_value).collect()
    }

    /// Wakes a stack that no record names.
    pub(crate) async fn wake_other(&self) -> Handled {
        let cause = Cause::Due { slot: Timestamp(0) };
        handle(&self.ports(), &Message::new(Wake::Stack(self.other), cause)).await.unwrap()
    }

    /// Time passes, and the stack is woken if it is due.
    pub(crate) async fn passes(&self, span: Span) -> Handled {
        self.memory.clock.advance(span);
        let slot = self.stack().await.due.unwrap();
        assert!(slot <= self.memory.clock.now(), "the stack is due");
        self.wake(Cause::Due { slot }).await
    }

    /// The attempt that is out claims, and is heard of for the last time.
    pub(crate) async fn claims(&self) {
        let attempt = self.run().await.attempt_out().unwrap();
        let now = self.memory.clock.now();
        let claimed = |record: &mut Attempt| {
            record.state = AttemptState::Claimed;
            (record.claimed_at, record.heard_at) = (Some(now), Some(now));
            true
        };
        update::<Attempt, _>(&*self.memory.store, &Key::attempt(attempt), claimed).await.unwrap();
        self.memory.launcher.set_status(attempt, TaskStatus::Running);
    }

    /// The first plan is reported and approved; the apply attempt that is then out.
    pub(crate) async fn planned_and_approved(&self, letter: &str) -> AttemptId {
        self.observed(letter).await;
        self.planned().await;
        let id = RequestId(Ulid::from_parts(9, 9));
        let by = Signed {
            who: "ada".to_owned(),
            at: self.memory.clock.now(),
            from: "cli".to_owned(),
            message: String::new(),
            identity: None,
        };
        let ask = Ask::Approve { plan: None, digest: None };
        self.put(&Request::new(id, self.id, by, ask)).await;
        self.wake(Cause::Request(id)).await;
        self.run().await.attempt_out().unwrap()
    }

    async fn plan_report(&self) -> PlanReport {
        PlanReport {
            plan_id: self.run().await.revision.plan_id(),
            content: ContentDigest::of(b"content"),
            file: FileDigest::of(b"file"),
            counts: PlanCounts { create: 1, ..PlanCounts::default() },
            has_changes: true,
            applyable: true,
            state_was_empty: false,
            backend_named: true,
            engine: EngineTool::Tofu,
            engine_version: "1.9.0".to_owned(),
            notices: Vec::new(),
            drifted: false,
            remediation_refused: None,
        }
    }

    /// The attempt that is out claims and reports.
    pub(crate) async fn reports(&self, report: AttemptReport) -> Handled {
        let attempt = self.run().await.attempt_out().unwrap();
        let reported = |record: &mut Attempt| {
            record.state = AttemptState::Reported;
            record.report = Some(report.clone());
            true
        };
        update::<Attempt, _>(&*self.memory.store, &Key::attempt(attempt), reported).await.unwrap();
        self.wake(Cause::Attempt { attempt, what: AttemptNews::Reported }).await
    }

    /// The attempt that is out fails of something that passes.
    pub(crate) async fn fails(&self) {
        let message = "it broke".to_owned();
        let class = FailureClass::Transient;
        let failure = Failure { class, message, detail: String::new(), lock: None, errored_state: false };
        self.reports(AttemptReport::Failed(failure)).await;
    }

    /// What names the trouble that the stack has.
    pub(crate) async fn trouble(&self) -> String {
        self.stack().await.retry.unwrap().signature
    }

    /// Many others have the same trouble.
    pub(crate) async fn many_have(&self, signature: &str) {
        for number in 0..u128::try_from(MANY).unwrap() {
            let stack = StackId(Ulid::from_parts(2, number));
            let name = StackName::new("infra", "other");
            self.put(&Edge { at: Key::trouble(signature, stack), stack, name }).await;
        }
    }

    /// Some of those others vanished from the manifests.
    pub(crate) async fn others_vanish(&self, count: u128) {
        let own = load::<Definition>(&*self.memory.store, &Key::definition(self.id)).await.unwrap().unwrap();
        let vanished = Some(self.memory.clock.now());
        for number in 0..count {
            let (stack, name) = (StackId(Ulid::from_parts(2, number)), StackName::new("infra", "other"));
            self.put(&Definition { stack, name, vanished, ..own.clone().into_value() }).await;
        }
    }

    fn notice_by_other(&self, signature: &str) -> TroubleNotice {
        let at = self.memory.clock.now();
        TroubleNotice { signature: signature.to_owned(), stack: self.other, at }
    }

    /// Another stack gave notice of a trouble.
    pub(crate) async fn other_gives_notice(&self, signature: &str) {
        self.put(&self.notice_by_other(signature)).await;
    }

    /// Another stack will have given it before the next decision is committed.
    pub(crate) fn other_gives_notice_meanwhile(&self, signature: &str) {
        let notice = put_any(&self.notice_by_other(signature)).unwrap();
        self.racing.before.lock().unwrap().push(notice);
    }

    /// Whether notice of a trouble was given and it is not over.
    pub(crate) async fn is_noticed(&self, signature: &str) -> bool {
        self.memory.store.get(&Key::trouble_notice(signature)).await.unwrap().is_some()
    }

    /// The store refuses to delete notices; or does so no more.
    pub(crate) fn keeps_notices(&self, keeps: Option<&'static str>) {
        *self.racing.keeps.lock().unwrap() = keeps;
    }

    /// How many notices of a trouble were published.
    pub(crate) fn notices(&self) -> usize {
        let published = self.memory.publisher.published();
        published.iter().filter(|event| event.kind == EventKind::RetriesPaused).count()
    }

    /// What was done of an effect was not written down, so it is done again.
    pub(crate) async fn redoes(&self, effect: Effect) {
        let (key, since) = (effect.key(), self.memory.clock.now());
        let pending =
            PendingEffect { key, effect, since, tries: 0, due: since, trouble: None, given_up: false };
        let again = |stack: &mut Stack| {
            stack.outbox.push(pending.clone());
            true
        };
        update::<Stack, _>(&*self.memory.store, &Key::stack(self.id), again).await.unwrap();
        self.wake(Cause::Due { slot: since }).await;
    }

    /// The stack's record.
    pub(crate) async fn stack(&self) -> Stack {
        load::<Stack>(&*self.memory.store, &Key::stack(self.id)).await.unwrap().unwrap().into_value()
    }

    /// The newest run.
    pub(crate) async fn run(&self) -> Run {
        let latest = self.stack().await.latest.unwrap();
        load::<Run>(&*self.memory.store, &Key::run(self.id, latest)).await.unwrap().unwrap().into_value()
    }
}

/// The state that the stack's code names.
pub(crate) fn state() -> CodeBackend {
    let settings = [("bucket", "b"), ("key", "k")];
    let settings = settings.map(|(name, text)| (name.to_owned(), Some(text.to_owned())));
    CodeBackend::Named(BackendBlock::new("s3", settings))
}
