//! What is asked for, and what is listed.

use axum::http::{Method, StatusCode};
use yuba_core::message::Wake;
use yuba_core::record::Key;
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
    assert!(world.memory.queue.pending().is_empty());
    let (status, _) = world.send(Method::POST, "/api/v1/stacks/infra/network/explode", "").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}
