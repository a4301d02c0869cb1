//! A world in memory with a stack, a run, providers and alerts; and a web that records.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's helper fails the test")]

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use yuba_core::declared::{Declared, DeclaredSpec};
use yuba_core::event::{Event, EventKind, EventSeverity};
use yuba_core::id::{ManifestSetName, ObjectName, SecretName, StackId};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::notify::{
    AlertSpec, EventSource, Notification, ProviderHealth, ProviderSpec, Service, SlackThread,
    pending_partition, settled_partition,
};
use yuba_core::record::Record;
use yuba_core::run::{Run, RunState};
use yuba_core::spec::ValuesKind;
use yuba_core::stack::Stack;
use yuba_core::time::Span;
use yuba_notifier::{Buttons, NotifierSettings, handle};
use yuba_ports::memory::MemoryWorld;
use yuba_ports::records::{load, page, put_any};
use yuba_ports::{
    Clock, Expected, Http, HttpAnswer, HttpRequest, NoAnswer, Order, Ports, Query, Queue, QueueName,
    Received, Store, Write,
};

/// What is written, and into what.
type Writing = (Arc<dyn Store>, Vec<Write>);

/// A web in which everything is taken, unless a test says otherwise.
#[derive(Default)]
pub(crate) struct Web {
    sent: Mutex<Vec<(String, Value)>>,
    answers: Mutex<VecDeque<Result<HttpAnswer, NoAnswer>>>,
    /// What another notifier writes while the next request is under way, and where.
    meanwhile: Mutex<Option<Writing>>,
}

#[async_trait]
impl Http for Web {
    async fn post(&self, request: &HttpRequest) -> Result<HttpAnswer, NoAnswer> {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let meanwhile = self.meanwhile.lock().unwrap().take();
        if let Some((store, writes)) = meanwhile {
            store.commit(writes).await.unwrap();
        }
        let mut sent = self.sent.lock().unwrap();
        sent.push((request.url.expose_secret().to_owned(), body));
        let ts = format!("{}.0", sent.len());
        let taken = json!({ "ok": true, "channel": "C1", "ts": ts }).to_string().into_bytes();
        let taken = HttpAnswer { status: 200, retry_after: None, body: taken };
        self.answers.lock().unwrap().pop_front().unwrap_or(Ok(taken))
    }
}

impl Web {
    /// The next request gets this answer.
    pub(crate) fn answers(&self, status: u16, body: &str) {
        let answer = HttpAnswer { status, retry_after: None, body: body.as_bytes().to_vec() };
        self.answers.lock().unwrap().push_back(Ok(answer));
    }

    /// The addresses and bodies that were sent since this was asked last.
    pub(crate) fn bodies(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut *self.sent.lock().unwrap())
    }

    /// What was sent since this was asked last: the end of the address, and the first line.
    pub(crate) fn sent(&self) -> Vec<String> {
        let line = |(url, body): (String, Value)| {
            let text = body["text"].as_str().or(body["message"].as_str()).unwrap_or("?").to_owned();
            let at = body["ts"].as_str().map(|ts| format!(" {ts}")).unwrap_or_default();
            format!("{}{at}: {text}", url.rsplit('/').next().unwrap())
        };
        self.bodies().into_iter().map(line).collect()
    }
}

pub(crate) struct World {
    pub(crate) memory: MemoryWorld,
    pub(crate) web: Arc<Web>,
    pub(crate) run: Run,
    settings: NotifierSettings,
    number: Mutex<u64>,
}

impl World {
    /// A stack with a run that waits for approval, a bot `chat` with its token, and an alert on what is wrong or waits.
    pub(crate) async fn new() -> Self {
        let world = Self::bare();
        world.provider("chat", |_| ()).await;
        world.alert("chat", |_| ()).await;
        world.secret("chat", &[("token", "xoxb-1")]);
        world
    }

    /// The same without a provider.
    pub(crate) fn bare() -> Self {
        let mut run: Run =
            serde_json::from_str(include_str!("../../../../shared/core/tests/golden/run.v1.json")).unwrap();
        run.state = RunState::AwaitingApproval;
        let web = Arc::new(Web::default());
        let settings =
            NotifierSettings { http: web.clone(), web: None, buttons: Buttons::Hidden, aws_endpoint: None };
        Self { memory: MemoryWorld::new(), web, run, settings, number: Mutex::new(0) }
    }

    pub(crate) async fn provider(&self, name: &str, change: impl FnOnce(&mut ProviderSpec)) {
        let mut spec = ProviderSpec {
            service: Service::Slack,
            address: None,
            channel: Some("#infra".to_owned()),
            username: None,
            timeout: None,
            secret: Some(SecretName::new("infra", name)),
            suspend: false,
        };
        change(&mut spec);
        self.put(&declared(name, spec)).await;
    }

    /// The provider vanishes from the manifests.
    pub(crate) async fn vanish(&self, name: &str) {
        let key = Declared::<ProviderSpec>::key_of(&named(name));
        let known = load::<Declared<ProviderSpec>>(&*self.memory.store, &key).await.unwrap().unwrap();
        let vanished = Some(self.memory.clock.now());
        self.put(&Declared { vanished, ..known.into_value() }).await;
    }

    pub(crate) async fn alert(&self, provider: &str, change: impl FnOnce(&mut AlertSpec)) {
        let (kind, name, namespace) = ("Terraform".to_owned(), "*".to_owned(), "infra".to_owned());
        let mut spec = AlertSpec {
            provider: named(provider),
            severity: EventSeverity::Warning,
            sources: vec![EventSource { kind, name, namespace, labels: BTreeMap::new() }],
            include: None,
            exclude: Vec::new(),
            metadata: BTreeMap::new(),
            suspend: false,
        };
        change(&mut spec);
        self.put(&declared(&format!("to-{provider}"), spec)).await;
    }

    pub(crate) fn secret(&self, name: &str, values: &[(&str, &str)]) {
        self.memory.secrets.set(ValuesKind::Secret, &SecretName::new("infra", name), values);
    }

    pub(crate) async fn put<T: Record>(&self, record: &T) {
        self.memory.store.commit(vec![put_any(record).unwrap()]).await.unwrap();
    }

    /// The run comes to another state, and its stack with it.
    pub(crate) async fn stands(&mut self, state: RunState, change: impl FnOnce(&mut Stack, &mut Run)) {
        let mut stack = Stack::new(self.run.stack, self.run.name.clone(), self.memory.clock.now());
        self.run.state = state;
        change(&mut stack, &mut self.run);
        self.put(&stack).await;
        self.put(&self.run).await;
    }

    /// An event of the run is published, and all that follows is done.
    pub(crate) async fn event(&self, kind: EventKind, message: &str) {
        self.publish(kind, message).await;
        self.work().await;
    }

    /// An event of the run is published.
    pub(crate) async fn publish(&self, kind: EventKind, message: &str) {
        let number = {
            let mut number = self.number.lock().unwrap();
            *number += 1;
            *number
        };
        let event = Event {
            stack: self.run.stack,
            name: self.run.name.clone(),
            number,
            kind,
            run: Some(self.run.id),
            revision: Some(self.run.revision.clone()),
            message: message.to_owned(),
            at: self.memory.clock.now(),
        };
        self.put(&self.run).await;
        self.put(&event).await;
        self.tell(self.run.stack, number).await;
    }

    /// The message that tells of an event.
    pub(crate) async fn tell(&self, stack: StackId, number: u64) {
        self.send(Wake::Events(stack), Cause::Event { stack, number }).await;
    }

    pub(crate) async fn send(&self, wake: Wake, cause: Cause) {
        self.memory.queue.send(vec![Message::new(wake, cause)]).await.unwrap();
    }

    /// Time passes, and the sweep wakes a provider.
    pub(crate) async fn passes(&self, span: Span, provider: &str) {
        self.memory.clock.advance(span);
        self.send(Wake::Provider(named(provider)), Cause::Due { slot: self.memory.clock.now() }).await;
        self.work().await;
    }

    /// Another notifier, who took over, sends what is pending for a provider while the next request is under way, and this
    /// one's answer comes after its own.
    pub(crate) async fn is_overtaken(&self, provider: &str, newest: &str) {
        let thread = SlackThread::key_of(self.run.stack, self.run.id, &named(provider));
        let thread = load::<SlackThread>(&*self.memory.store, &thread).await.unwrap().unwrap();
        let shown = SlackThread { shown: Some(newest.to_owned()), ..(*thread).clone() };
        let mut writes = vec![thread.with(shown).put().unwrap()];
        for sent in self.pending(provider).await {
            writes.push(Write::Delete { key: sent.key(), expected: Expected::Any });
        }
        *self.web.meanwhile.lock().unwrap() = Some((self.memory.store.clone(), writes));
        let due = Cause::Due { slot: self.memory.clock.now() };
        let message = Message::new(Wake::Provider(named(provider)), due);
        handle(&self.memory.ports(), &self.settings, &[message]).await.unwrap_err();
    }

    /// Handles messages until none is left.
    pub(crate) async fn work(&self) {
        let ports = self.memory.ports();
        loop {
            let received = self.memory.queue.receive(QueueName::Notices, 10, Span::ZERO).await.unwrap();
            if received.is_empty() {
                return;
            }
            for group in received.chunk_by(|one, other| one.message.wake == other.message.wake) {
                self.handle(&ports, group).await;
            }
        }
    }

    async fn handle(&self, ports: &Ports, group: &[Received]) {
        let messages: Vec<Message> = group.iter().map(|received| received.message.clone()).collect();
        handle(ports, &self.settings, &messages).await.unwrap();
        for received in group {
            self.memory.queue.ack(received).await.unwrap();
        }
    }

    pub(crate) async fn health(&self, provider: &str) -> ProviderHealth {
        let key = ProviderHealth::key_of(&named(provider));
        load::<ProviderHealth>(&*self.memory.store, &key).await.unwrap().unwrap().into_value()
    }

    /// Why the provider did not take the last message.
    pub(crate) async fn trouble(&self, provider: &str) -> String {
        self.health(provider).await.trouble().map(|error| error.why.clone()).unwrap_or_default()
    }

    pub(crate) async fn pending(&self, provider: &str) -> Vec<Notification> {
        self.all(pending_partition(&named(provider))).await
    }

    pub(crate) async fn settled(&self, provider: &str) -> Vec<Notification> {
        self.all(settled_partition(&named(provider))).await
    }

    async fn all(&self, partition: String) -> Vec<Notification> {
        let (prefix, order) = (String::new(), Order::Ascending);
        let query = Query::Partition { partition, prefix, order, after: None, limit: 100 };
        let (found, _) = page::<Notification>(&*self.memory.store, query).await.unwrap();
        found.into_iter().map(yuba_ports::records::Versioned::into_value).collect()
    }
}

pub(crate) fn named(name: &str) -> ObjectName {
    ObjectName::new("infra", name)
}

fn declared<S: DeclaredSpec>(name: &str, spec: S) -> Declared<S> {
    let (set, place) = (ManifestSetName("flux".to_owned()), "a.yaml:1".to_owned());
    Declared { name: named(name), spec, set, snapshot: 1, place, vanished: None }
}
