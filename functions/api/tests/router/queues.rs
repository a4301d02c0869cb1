//! Messages that could not be handled.

use axum::http::{Method, StatusCode};
use serde_json::Value;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::time::{Span, Timestamp};
use yuba_ports::{Queue, QueueName};

use crate::kit::{STACK, World};

#[tokio::test]
async fn dead_letters_are_listed_with_their_reason_and_sent_again() {
    let world = World::new().await;
    let (queue, message) =
        (&world.memory.queue, Message::new(Wake::Stack(STACK), Cause::Due { slot: Timestamp(7) }));
    queue.send(vec![message.clone()]).await.unwrap();
    let received = queue.receive(QueueName::Stacks, 1, Span::ZERO).await.unwrap();
    queue.set_aside(&received[0], "it breaks off").await.unwrap();

    let (status, listed) = world.get("/api/v1/queues/stacks/dead-letters").await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let item = &listed["items"][0];
    assert_eq!((status, &item["why"]), (StatusCode::OK, &"it breaks off".into()), "{listed}");
    assert_eq!(item["group"], format!("stack#{STACK}"));
    let sent: Message = serde_json::from_str(item["message"].as_str().unwrap()).unwrap();
    assert_eq!(sent, message);
    let (_, none) = world.get("/api/v1/queues/sources/dead-letters").await;
    assert_eq!(none, r#"{"items":[]}"#);

    let redrive =
        async |queue: &str| world.send(Method::POST, &format!("/api/v1/queues/{queue}/redrive"), "").await;
    assert_eq!(redrive("sources").await, (StatusCode::ACCEPTED, r#"{"redriven":0}"#.to_owned()));
    assert_eq!(redrive("stacks").await, (StatusCode::ACCEPTED, r#"{"redriven":1}"#.to_owned()));
    assert_eq!(queue.pending(), [message]);
}

#[tokio::test]
async fn a_queue_that_is_none_is_named_with_those_there_are() {
    let world = World::new().await;
    for (method, path) in [(Method::GET, "dead-letters"), (Method::POST, "redrive")] {
        let (status, answer) = world.send(method, &format!("/api/v1/queues/runs/{path}"), "").await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        assert!(
            answer.contains("there is no queue `runs`") && answer.contains("sources, stacks, notices"),
            "{answer}"
        );
    }
}
