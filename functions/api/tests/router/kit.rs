//! The API over a world in memory, and what it answers.

use std::sync::Arc;

use async_trait::async_trait;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use secrecy::SecretString;
use tower::ServiceExt;
use ulid::Ulid;
use yuba_api::{Api, Explain, Unexplained, router};
use yuba_core::id::{StackId, StackName};
use yuba_core::job::attempt_prefix;
use yuba_core::record::{Edge, Key, Record, StackAlias};
use yuba_core::run::Run;
use yuba_core::source::Definition;
use yuba_core::stack::Stack;
use yuba_core::state_address::known_address;
use yuba_core::time::Timestamp;
use yuba_core::why::Why;
use yuba_ports::memory::MemoryWorld;
use yuba_ports::records::put_any;
use yuba_ports::{Blobs, PutMode, Store};

pub(crate) const STACK: StackId = StackId(Ulid::from_parts(1_796_027_157_000, 1));
pub(crate) const TOKEN: &str = "secret";

/// An answer: its status and its text.
pub(crate) type Answer = (StatusCode, String);

/// The API's world.
pub(crate) struct World {
    pub(crate) memory: MemoryWorld,
}

impl World {
    /// A world with the stack `infra/network`, that had no run yet.
    pub(crate) async fn new() -> Self {
        let world = Self { memory: MemoryWorld::new() };
        world.stack("network", STACK).await;
        world
    }

    /// A stack that had no run yet.
    pub(crate) async fn stack(&self, name: &str, id: StackId) {
        let name = StackName::new("infra", name);
        self.put(&Stack::new(id, name.clone(), Timestamp(1_796_027_157_000))).await;
        self.put(&StackAlias { name, stack: id }).await;
    }

    /// Manifests of these stacks, of which the first is [`STACK`], name one state.
    pub(crate) async fn names_one_state(&self, names: &[&str]) {
        for (name, number) in names.iter().zip(1..) {
            let (id, golden) = (
                Ulid::from_parts(1_796_027_157_000, number),
                include_str!("../../../../shared/core/tests/golden/definition.v1.json"),
            );
            let mut definition: Definition = serde_json::from_str(golden).unwrap();
            (definition.stack, definition.name) = (StackId(id), StackName::new("infra", *name));
            definition.place = format!("flux/{name}.yaml:1");
            definition.spec.backend = Some("backend \"s3\" {\n bucket = \"b\"\n key = \"k\"\n}".to_owned());
            let address = known_address(&definition.spec, None).digest().unwrap();
            let (at, name) = (Key::state(address, definition.stack), definition.name.clone());
            self.put(&Edge { at, stack: definition.stack, name }).await;
            self.put(&definition).await;
        }
    }

    /// An applied run of the stack, changed as told; its attempts are `plan-1` and `apply-1`.
    pub(crate) async fn run(&self, change: impl FnOnce(&mut Run)) -> Run {
        let golden = include_str!("../../../../shared/core/tests/golden/run.v1.json");
        let mut run = Run { stack: STACK, ..serde_json::from_str(golden).unwrap() };
        change(&mut run);
        self.put(&run).await;
        run
    }

    /// Stores an object of an attempt of a run, counted from 0.
    pub(crate) async fn object(&self, run: &Run, attempt: usize, name: &str, bytes: &str) {
        let note = run.attempts.get(attempt).unwrap();
        let key = format!("{}{name}", attempt_prefix(run.stack, note.id));
        self.memory.blobs.put(&key, bytes.as_bytes(), PutMode::Replace).await.unwrap();
    }

    /// Writes a record, whatever was there.
    pub(crate) async fn put(&self, record: &impl Record) {
        self.memory.store.commit(vec![put_any(record).unwrap()]).await.unwrap();
    }

    /// A request with the token, whole.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, "").await
    }

    /// The same with a body.
    pub(crate) async fn send(&self, method: Method, path: &str, body: impl Into<Body>) -> Answer {
        let request = Request::builder().method(method).uri(path).header("authorization", "Bearer secret");
        self.answer(request.body(body.into()).unwrap()).await
    }

    /// What is answered to a request.
    pub(crate) async fn answer(&self, request: Request<Body>) -> Answer {
        let response = router(self.api()).oneshot(request).await.unwrap();
        let status = response.status();
        let bytes = axum::body::to_bytes(response.into_body(), 1 << 20).await.unwrap();
        (status, String::from_utf8(bytes.to_vec()).unwrap())
    }

    pub(crate) fn api(&self) -> Api {
        Api::new(self.memory.ports(), SecretString::from(TOKEN), Arc::new(Knows))
    }
}

/// Knows why of one revision.
struct Knows;

#[async_trait]
impl Explain for Knows {
    async fn why(&self, stack: &StackName, revision: Option<&str>) -> Result<Why, Unexplained> {
        match revision {
            Some("main") | None => Ok(Why::NoRun { reason: format!("nobody asked for {stack}") }),
            Some(other) => Err(Unexplained::Unknown(format!("revision `{other}` is not known"))),
        }
    }
}
