//! What is asked for, and what is listed.

use axum::http::{Method, StatusCode};
use ulid::Ulid;
use yuba_core::effect::{Effect, PendingEffect};
use yuba_core::id::StackId;
use yuba_core::message::Wake;
use yuba_core::record::Key;
use yuba_core::run::{Run, RunState, Waiting};
use yuba_core::stack::Stack;
use yuba_core::time::Timestamp;
use yuba_ports::Store;

use crate::kit::{STACK, World};

#[tokio::test]
async fn stacks_are_listed_and_described() {
    let world = World::new().await;
    let (_, list) = world.get("/api/v1/stacks?name=network").await;
    assert!(list.contains(r#""namespace":"infra","name":"network","ready":"Unknown""#), "{list}");
    assert_eq!(world.get("/api/v1/stacks/infra/network").await.0, StatusCode::OK);
    let (status, problem) = world.get("/api/v1/stacks/infra/other").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(problem.contains("there is no stack infra/other"), "{problem}");
}

#[tokio::test]
async fn a_task_that_does_not_start_says_why_and_when_it_is_tried_again() {
    let world = World::new().await;
    let run = world
        .run(|run| {
            (run.state, run.waits_for, run.failure) = (RunState::Planning, Waiting::Claim, None);
            run.attempts.truncate(1);
            run.attempts.iter_mut().for_each(|note| note.ended = None);
        })
        .await;
    let effect = Effect::StartTask { attempt: run.attempts.first().unwrap().id };
    let (key, at) = (effect.key(), Timestamp(1_796_027_157_000));
    let trouble = Some("No space left on device (os error 28)".to_owned());
    let pending = PendingEffect { key, effect, since: at, tries: 2, due: at, trouble, given_up: false };
    let stack = Stack { run: Some(run.id), ..Stack::new(STACK, run.name.clone(), at) };
    world.put(&Stack { outbox: vec![pending], ..stack }).await;
    let (_, of_stack) = world.get("/api/v1/stacks/infra/network").await;
    let (_, of_run) = world.get(&format!("/api/v1/runs/{}", run.id)).await;
    let says = r#""waits_for":"a task to start: No space left on device (os error 28); next try at 2026-11-30T08:25:57Z""#;
    assert!(of_stack.contains(says) && of_run.contains(says), "{of_stack}\n{of_run}");
    let (_, list) = world.get("/api/v1/stacks").await;
    let status = "; its task is not started yet: No space left on device (os error 28); next try at ";
    assert!(list.contains(status), "{list}");
}

#[tokio::test]
async fn no_lock_is_released_that_an_attempt_of_another_stack_may_hold() {
    let world = World::new().await;
    world.names_one_state(&["network", "twin"]).await;
    let twin = StackId(Ulid::from_parts(1_796_027_157_000, 2));
    let unlock = || world.send(Method::POST, "/api/v1/stacks/infra/network/unlock", r#"{"lock":"7f-1"}"#);
    let run = world.run(|run| run.stack = twin).await;
    world.put(&Stack { run: Some(run.id), ..Stack::new(twin, run.name.clone(), run.created_at) }).await;
    assert_eq!(unlock().await.0, StatusCode::ACCEPTED, "its attempts have ended");
    let out = |run: &mut Run| run.attempts.iter_mut().for_each(|note| note.ended = None);
    world
        .run(|run| {
            run.stack = twin;
            out(run);
        })
        .await;
    let (status, problem) = unlock().await;
    assert_eq!(status, StatusCode::CONFLICT, "{problem}");
    assert!(
        problem.contains("of infra/twin, which has the same state, is out and may hold the lock"),
        "{problem}"
    );
}

#[tokio::test]
async fn a_request_is_stored_and_wakes_its_stack() {
    let world = World::new().await;
    let (status, asked) = world.send(Method::POST, "/api/v1/stacks/infra/network/suspend", "").await;
    assert_eq!(status, StatusCode::ACCEPTED, "{asked}");
    let woken = world.memory.queue.pending().first().map(|message| message.wake.clone());
    assert_eq!(woken, Some(Wake::Stack(STACK)));
    let asked: yuba_api::wire::Asked = serde_json::from_str(&asked).unwrap();
    let key = Key::request(asked.request.parse().unwrap());
    assert!(world.memory.store.get(&key).await.unwrap().is_some());
    let (_, state) = world.get(&asked.location).await;
    assert!(state.contains(r#""outcome":"pending""#), "{state}");
}

#[tokio::test]
async fn what_the_records_refuse_is_refused_at_once() {
    let world = World::new().await;
    let (status, problem) = world.send(Method::POST, "/api/v1/stacks/infra/network/approve", "").await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(problem.contains("nothing waits for approval"), "{problem}");
    world.names_one_state(&["network", "twin"]).await;
    let (status, problem) = world.send(Method::POST, "/api/v1/stacks/infra/network/destroy", "").await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(problem.contains("infra/twin (flux/twin.yaml:1) names the same state"), "{problem}");
    let woken = world.memory.queue.pending();
    assert!(woken.iter().all(|message| message.wake == Wake::Stack(STACK)), "{woken:?}");
    assert_eq!(woken.len(), 2, "the audit trail is to tell of both");
    let (status, _) = world.send(Method::POST, "/api/v1/stacks/infra/network/explode", "").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}
