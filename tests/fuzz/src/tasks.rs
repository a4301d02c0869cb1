//! What tasks ask for: a line `claim`, `heartbeat` or `report`, then the body.

use std::sync::Arc;

use axum::body::Body;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Request, StatusCode};
use secrecy::ExposeSecret;
use serde_json::Value;
use yuba_core::attempt::Attempt;
use yuba_core::token::{TokenUse, task_token};
use yuba_ports::memory::MemoryWorld;
use yuba_ports::records::put_any;
use yuba_tasks::{ObjectsDirectory, TaskSettings, TasksState, router};

use crate::head::cut;
use crate::serve::{ask, waited_for};

/// The one attempt that there is: a plan, issued.
const ATTEMPT: &str = include_str!("attempt.json");
/// The claim that it comes with.
const CLAIM: &[u8] = br#"{"schema": 1, "attempt": "00000000010000000000000001-plan-1"}"#;

/// Asks for something under the attempt's tokens.
pub fn target(data: &[u8]) {
    let world = World::new();
    let (step, body) = cut(data, b'\n');
    match step {
        b"claim" => {
            world.post("/tasks/claim", TokenUse::Claim, body);
        }
        b"heartbeat" => {
            world.post("/tasks/claim", TokenUse::Claim, CLAIM);
            world.post("/tasks/heartbeat", TokenUse::Report, body);
        }
        _ => {
            let claimed = world.post("/tasks/claim", TokenUse::Claim, CLAIM);
            assert_eq!(claimed, StatusCode::OK, "the attempt can be claimed");
            let status = world.post("/tasks/report", TokenUse::Report, body);
            let again = world.post("/tasks/report", TokenUse::Report, body);
            assert_eq!(status, again, "the same report is answered in another way");
        }
    }
}

struct World {
    memory: MemoryWorld,
    attempt: Attempt,
}

impl World {
    fn new() -> Self {
        let attempt: Attempt = serde_json::from_str(ATTEMPT).expect("an attempt's record can be read");
        let memory = MemoryWorld::new();
        let issued = put_any(&attempt).expect("a record can be written");
        waited_for(memory.ports().store.commit(vec![issued])).expect("memory does not fail");
        Self { memory, attempt }
    }

    fn post(&self, path: &str, token_use: TokenUse, body: &[u8]) -> StatusCode {
        let ports = self.memory.ports();
        let token = task_token(ports.key.expose_secret().as_bytes(), token_use, self.attempt.id);
        let request = Request::post(path)
            .header(AUTHORIZATION, format!("Bearer {token}"))
            .header(CONTENT_TYPE, "application/json")
            .body(Body::from(body.to_vec()))
            .expect("a token fits into a header");
        let settings = TaskSettings {
            objects: Arc::new(ObjectsDirectory("objects".into())),
            local_state: None,
            provider_cache: None,
        };
        let (status, answer): (_, Value) =
            ask(router(TasksState { ports, settings: Arc::new(settings) }), request);
        assert!(!status.is_server_error(), "{status} {answer}");
        status
    }
}
