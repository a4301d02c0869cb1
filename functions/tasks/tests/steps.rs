//! Each step of an attempt is taken once, whoever asks.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a helper of tests fails the test")]

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tower::ServiceExt as _;
use ulid::Ulid;
use yuba_core::attempt::{Attempt, AttemptState};
use yuba_core::capacity::Caps;
use yuba_core::id::{AttemptId, Phase, RunId};
use yuba_core::message::{AttemptNews, Cause};
use yuba_core::record::{Installation, Key};
use yuba_core::request::Signed;
use yuba_core::time::{Span, Timestamp};
use yuba_core::token::{TokenUse, task_token};
use yuba_ports::memory::MemoryWorld;
use yuba_ports::records::{put_any, update};
use yuba_ports::{Assumed, Clock, Credentials, PortError, Ports, Queue, QueueName, RoleSession, StartTask};
use yuba_tasks::{ObjectsDirectory, TaskSettings, TasksState, router, stopped};

const TREE: &str = "b8e362c206e3d0cbb7ed22ced771a0056455a2fb";

fn attempt(phase: Phase) -> AttemptId {
    AttemptId { run: RunId(Ulid::from_parts(1, 1)), phase, number: 1 }
}

async fn issue(world: &MemoryWorld, id: AttemptId) {
    let stack = Ulid::from_parts(1, 2).to_string();
    let spec = json!({
        "source": "default/source", "path": "", "interval": "1h", "retry_interval": "15s", "timeout": "5m",
        "apply_timeout": "6h", "approve_plan": "auto", "plan_only": false, "suspend": false, "force": false,
        "destroy": false, "vars": [], "vars_from": [], "tf_vars_files": [], "backend": null, "workspace": "default",
        "depends_on": [], "write_outputs": null, "enable_inventory": false,
        "roles": {"plan": "reader", "apply": "writer", "service_account": null},
        "engine": {"tool": null, "version": null, "strength": "wish"}, "labels": {}, "drift": {"mode": "alert"},
        "triggers": [], "state_is_new": false, "not_applied": [],
    });
    let job = json!({"schema": 1, "attempt": id, "stack": stack, "name": "default/a", "kind": "tracked",
        "revision": format!("main@sha1:{TREE}"), "tree": TREE, "spec": spec, "timeout": "5m", "plan": null,
        "before_plan": null, "adopted": true});
    let record = json!({"id": id, "stack": stack, "job": job, "state": "issued", "issued_at": 0, "claimed_at": null,
        "heard_at": null, "progress": null, "stop": null, "report": null});
    let record: yuba_core::attempt::Attempt = serde_json::from_value(record).unwrap();
    world.ports().store.commit(vec![put_any(&record).unwrap()]).await.unwrap();
}

async fn post(world: &MemoryWorld, path: &str, token_use: TokenUse, body: Value) -> (StatusCode, String) {
    post_to(world.ports(), path, token_use, body).await
}

async fn post_to(ports: Ports, path: &str, token_use: TokenUse, body: Value) -> (StatusCode, String) {
    let id: AttemptId = serde_json::from_value(body["attempt"].clone()).unwrap();
    post_as(ports, path, (token_use, id), body).await
}

/// Posts with the token of an attempt, whichever the body names.
async fn post_as(
    ports: Ports,
    path: &str,
    (token_use, id): (TokenUse, AttemptId),
    body: Value,
) -> (StatusCode, String) {
    let token = task_token(ports.key.expose_secret().as_bytes(), token_use, id);
    let settings = TaskSettings {
        objects: Arc::new(ObjectsDirectory("o".into())),
        local_state: None,
        provider_cache: None,
    };
    let request = Request::post(path)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .unwrap();
    let answer = router(TasksState { ports, settings: Arc::new(settings) }).oneshot(request).await.unwrap();
    let status = answer.status();
    let bytes = axum::body::to_bytes(answer.into_body(), 1 << 20).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

async fn pause(world: &MemoryWorld) {
    let (who, from) = ("ann".to_owned(), "cli".to_owned());
    let by = Signed { who, at: Timestamp(1), from, message: String::new(), identity: None };
    let paused = put_any(&Installation { paused: Some(by), audit: None }).unwrap();
    world.ports().store.commit(vec![paused]).await.unwrap();
}

async fn claim(world: &MemoryWorld, id: AttemptId) -> (StatusCode, String) {
    post(world, "/tasks/claim", TokenUse::Claim, json!({"schema": 1, "attempt": id})).await
}

#[tokio::test]
async fn an_attempt_is_claimed_once_under_the_role_of_its_phase() {
    let world = MemoryWorld::new();
    let id = attempt(Phase::Plan);
    issue(&world, id).await;
    assert_eq!(claim(&world, id).await.0, StatusCode::OK);
    let second = claim(&world, id).await;
    assert_eq!(second.0, StatusCode::CONFLICT);
    assert_eq!(second.1, format!(r#"{{"error":"attempt {id} is claimed already"}}"#));
    let roles: Vec<_> = world.credentials.sessions().into_iter().map(|session| session.role).collect();
    assert_eq!(roles, [Some("reader".to_owned())]);
}

#[tokio::test]
async fn a_token_of_another_use_is_no_token() {
    let world = MemoryWorld::new();
    let id = attempt(Phase::Plan);
    issue(&world, id).await;
    let body = json!({"schema": 1, "attempt": id});
    let (status, _) = post(&world, "/tasks/claim", TokenUse::Report, body).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn credentials_are_renewed_under_the_same_role_while_the_claim_stands() {
    let world = MemoryWorld::new();
    let id = attempt(Phase::Apply);
    issue(&world, id).await;
    world.credentials.set("AWS_SESSION_TOKEN", "one");
    world.credentials.expire(world.clock.now() + Span::hours(1));
    let ask = || post(&world, "/tasks/credentials", TokenUse::Report, json!({"schema": 1, "attempt": id}));
    assert_eq!(ask().await.0, StatusCode::CONFLICT, "it was not claimed");
    claim(&world, id).await;
    world.credentials.set("AWS_SESSION_TOKEN", "two");
    let (status, answer) = ask().await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["credentials"], json!({"AWS_SESSION_TOKEN": "two"}));
    assert_eq!(answer["lease"]["renew_after"], "45m0s");
    let roles: Vec<_> = world.credentials.sessions().into_iter().map(|session| session.role).collect();
    assert_eq!(roles, [Some("writer".to_owned()), Some("writer".to_owned())]);
    let close = |attempt: &mut Attempt| {
        attempt.state = AttemptState::Closed;
        true
    };
    update(&*world.store, &Key::attempt(id), close).await.unwrap();
    assert_eq!(ask().await.0, StatusCode::CONFLICT, "the attempt is closed");
}

#[tokio::test]
async fn the_token_of_one_attempt_claims_renews_and_reports_for_no_other() {
    let world = MemoryWorld::new();
    let (own, other) = (attempt(Phase::Plan), attempt(Phase::Apply));
    issue(&world, own).await;
    issue(&world, other).await;
    for (path, token_use) in [
        ("/tasks/claim", TokenUse::Claim),
        ("/tasks/heartbeat", TokenUse::Report),
        ("/tasks/credentials", TokenUse::Report),
        ("/tasks/report", TokenUse::Report),
    ] {
        let stopped = json!({"stopped": {"message": "", "acted": false, "errored_state": false}});
        let body = json!({"schema": 1, "attempt": other, "progress": null, "report": stopped});
        let answer = post_as(world.ports(), path, (token_use, own), body).await;
        assert_eq!(answer.0, StatusCode::UNAUTHORIZED, "{path}: {}", answer.1);
    }
}

#[tokio::test]
async fn a_report_is_accepted_once_and_the_same_again_as_done() {
    let world = MemoryWorld::new();
    let id = attempt(Phase::Plan);
    issue(&world, id).await;
    let report = |why: &str| {
        let stopped = json!({"stopped": {"message": why, "acted": false, "errored_state": false}});
        json!({"schema": 1, "attempt": id, "report": stopped})
    };
    let send = |body| post(&world, "/tasks/report", TokenUse::Report, body);
    assert_eq!(send(report("one")).await.0, StatusCode::CONFLICT, "it was not claimed");
    claim(&world, id).await;
    assert_eq!(send(report("one")).await.0, StatusCode::OK);
    assert_eq!(send(report("one")).await.0, StatusCode::OK);
    assert_eq!(send(report("two")).await.0, StatusCode::CONFLICT);
}

#[tokio::test]
async fn a_pause_refuses_applies_and_lets_plans_through() {
    let world = MemoryWorld::new();
    pause(&world).await;
    for (phase, status) in [(Phase::Apply, StatusCode::CONFLICT), (Phase::Plan, StatusCode::OK)] {
        issue(&world, attempt(phase)).await;
        assert_eq!(claim(&world, attempt(phase)).await.0, status, "{phase}");
    }
}

/// Pauses the installation while the claim's credentials are made: after the claim looked, before it is written.
struct PausesMeanwhile(MemoryWorld);

#[async_trait::async_trait]
impl Credentials for PausesMeanwhile {
    async fn assume(&self, _: &RoleSession) -> Result<Assumed, PortError> {
        pause(&self.0).await;
        Ok(Assumed::default())
    }
}

#[tokio::test]
async fn no_apply_is_claimed_after_a_pause_was_answered() {
    for (phase, status) in [(Phase::Apply, StatusCode::CONFLICT), (Phase::Plan, StatusCode::OK)] {
        let world = MemoryWorld::new();
        issue(&world, attempt(phase)).await;
        let mut ports = world.ports();
        ports.credentials = Arc::new(PausesMeanwhile(world.clone()));
        let body = json!({"schema": 1, "attempt": attempt(phase)});
        let answer = post_to(ports, "/tasks/claim", TokenUse::Claim, body).await;
        assert_eq!(answer.0, status, "{phase}: {}", answer.1);
    }
}

#[tokio::test]
async fn a_task_that_stopped_without_a_report_wakes_its_stack() {
    let world = MemoryWorld::new();
    let id = attempt(Phase::Plan);
    issue(&world, id).await;
    stopped(&world.ports(), id).await.unwrap();
    let woken = world.queue.receive(QueueName::Stacks, 10, Span::ZERO).await.unwrap();
    let causes: Vec<&Cause> = woken.iter().map(|received| &received.message.cause).collect();
    assert_eq!(causes, [&Cause::Attempt { attempt: id, what: AttemptNews::Stopped }]);
}

#[tokio::test]
async fn a_task_that_stopped_after_its_report_or_is_unknown_wakes_nobody() {
    let world = MemoryWorld::new();
    let (reported, unknown) = (attempt(Phase::Plan), attempt(Phase::Apply));
    issue(&world, reported).await;
    let settle = |attempt: &mut Attempt| {
        attempt.state = AttemptState::Reported;
        true
    };
    update(&*world.store, &Key::attempt(reported), settle).await.unwrap();
    for id in [reported, unknown] {
        stopped(&world.ports(), id).await.unwrap();
    }
    assert_eq!(world.queue.receive(QueueName::Stacks, 10, Span::ZERO).await.unwrap(), []);
}

/// Two attempts where there is room for one: the first was started, the second waits.
async fn one_waits(world: &MemoryWorld) -> (Ports, AttemptId, AttemptId) {
    let ports = world.ports().capped(Caps { installation: Some(1), ..Caps::default() });
    let (first, second) = (attempt(Phase::Plan), attempt(Phase::Apply));
    for id in [first, second] {
        issue(world, id).await;
        let start = StartTask { attempt: id, token: "token".into() };
        ports.launcher.start(start).await.unwrap();
    }
    let started: Vec<AttemptId> = world.launcher.started().iter().map(|start| start.attempt).collect();
    assert_eq!(started, [first]);
    (ports, first, second)
}

/// Whose room the messages that were sent tell of.
async fn told_of_room(world: &MemoryWorld) -> Vec<AttemptId> {
    let received = world.queue.receive(QueueName::Stacks, 10, Span::ZERO).await.unwrap();
    let room = |cause: &Cause| if let Cause::Room { attempt, .. } = cause { Some(*attempt) } else { None };
    received.iter().filter_map(|received| room(&received.message.cause)).collect()
}

#[tokio::test]
async fn a_report_makes_room_for_who_waits() {
    let world = MemoryWorld::new();
    let (ports, first, second) = one_waits(&world).await;
    claim(&world, first).await;
    let stopped = json!({"stopped": {"message": "", "acted": false, "errored_state": false}});
    let body = json!({"schema": 1, "attempt": first, "report": stopped});
    assert_eq!(post_to(ports, "/tasks/report", TokenUse::Report, body).await.0, StatusCode::OK);
    assert_eq!(told_of_room(&world).await, [second]);
}

#[tokio::test]
async fn a_task_that_stopped_makes_room_for_who_waits() {
    let world = MemoryWorld::new();
    let (ports, first, second) = one_waits(&world).await;
    stopped(&ports, first).await.unwrap();
    assert_eq!(told_of_room(&world).await, [second]);
}
