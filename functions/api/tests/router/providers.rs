//! Providers of notifications.

use axum::http::{Method, StatusCode};
use serde_json::Value;
use ulid::Ulid;
use yuba_core::id::{ObjectName, RunId};
use yuba_core::message::Wake;
use yuba_core::notify::{Mend, NoticeState, Notification, Occasion, Provider, ProviderHealth, Undelivered};
use yuba_core::time::{Span, Timestamp};
use yuba_ports::Store;

use crate::kit::{STACK, World};

fn chat() -> ObjectName {
    ObjectName::new("infra", "chat")
}

/// A world with the provider `infra/chat`.
async fn world() -> World {
    let world = World::new().await;
    let golden = include_str!("../../../../shared/core/tests/golden/provider.v1.json");
    world.put(&serde_json::from_str::<Provider>(golden).unwrap()).await;
    world
}

fn notification(event: u64) -> Notification {
    let of = Occasion::Again { stack: STACK, event, run: RunId(Ulid(1)) };
    Notification::new(chat(), of, Timestamp(0))
}

fn woken(world: &World) -> Vec<Wake> {
    world.memory.queue.pending().into_iter().map(|message| message.wake).collect()
}

#[tokio::test]
async fn a_provider_shows_how_it_fares_and_what_waits() {
    let world = world().await;
    let mut health = ProviderHealth::new(chat());
    health.failed(&Undelivered::new(Mend::Settings, "Slack says `invalid_auth`"), Timestamp(0));
    world.put(&health).await;
    world.put(&notification(1)).await;
    world.put(&notification(2).given_up("no", Timestamp(0))).await;
    world.put(&notification(3).sent(Timestamp(0))).await;
    let (status, answer) = world.get("/api/v1/providers").await;
    let list: Value = serde_json::from_str(&answer).unwrap();
    let item = &list["items"][0];
    assert_eq!((status, &item["type"], &item["ready"]), (StatusCode::OK, &"slack".into(), &"False".into()));
    assert_eq!((&item["pending"], &item["given_up"]), (&1.into(), &1.into()));
    assert_eq!(item["status"], "Slack says `invalid_auth`");
    let golden = include_str!("../../../../shared/core/tests/golden/provider.v1.json");
    let gone = Provider { vanished: Some(Timestamp(1)), ..serde_json::from_str(golden).unwrap() };
    world.put(&gone).await;
    assert_eq!(world.get("/api/v1/providers").await.1, r#"{"items":[]}"#);
}

#[tokio::test]
async fn a_try_is_stored_wakes_the_provider_and_shows_what_became_of_it() {
    let world = world().await;
    let (status, answer) =
        world.send(Method::POST, "/api/v1/providers/infra/chat/test", r#"{"who": "ada"}"#).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{answer}");
    assert_eq!(woken(&world), [Wake::Provider(chat())]);
    let asked: Value = serde_json::from_str(&answer).unwrap();
    let location = asked["location"].as_str().unwrap();
    assert!(world.get(location).await.1.contains(r#""outcome":"pending""#));
    let id = format!("test#{}", asked["request"].as_str().unwrap());
    let key = Notification::pending_key(&chat(), &id);
    let stored = world.memory.store.get(&key).await.unwrap().unwrap();
    let stored: Notification = serde_json::from_value(stored.body).unwrap();
    world.put(&stored.given_up("HTTP 503", Timestamp(0))).await;
    let delete = yuba_ports::Write::Delete { key, expected: yuba_ports::Expected::Any };
    world.memory.store.commit(vec![delete]).await.unwrap();
    let (_, answer) = world.get(location).await;
    assert!(answer.contains(r#""outcome":"refused","message":"HTTP 503""#), "{answer}");
}

#[tokio::test]
async fn what_was_given_up_is_made_to_wait_again() {
    let world = world().await;
    world.put(&notification(2).given_up("no", Timestamp(0))).await;
    world.put(&notification(3).sent(Timestamp(0))).await;
    world.memory.clock.advance(Span::hours(1));
    let (_, answer) = world.send(Method::POST, "/api/v1/providers/infra/chat/redeliver", "").await;
    assert_eq!(answer, r#"{"count":1}"#);
    let id = notification(2).of.id();
    let (key, gone) = (Notification::pending_key(&chat(), &id), Notification::settled_key(&chat(), &id));
    let again = world.memory.store.get(&key).await.unwrap().unwrap();
    let again: Notification = serde_json::from_value(again.body).unwrap();
    assert!(matches!(again.state, NoticeState::Pending { .. }) && again.trouble.is_none(), "{again:?}");
    assert_eq!(world.memory.store.get(&gone).await.unwrap(), None);
    assert_eq!(woken(&world), [Wake::Provider(chat())]);
}

#[tokio::test]
async fn a_provider_that_is_not_there_is_said_to_be_none() {
    let world = world().await;
    for path in ["/api/v1/providers/infra/other/test", "/api/v1/providers/infra/other/redeliver"] {
        assert_eq!(world.send(Method::POST, path, "{}").await.0, StatusCode::NOT_FOUND, "{path}");
    }
    let test = format!("/api/v1/providers/infra/chat/tests/{}", Ulid(1));
    assert_eq!(world.get(&test).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_provider_is_woken_when_its_secret_is_set() {
    let world = world().await;
    let body = r#"{"values": {"token": "t"}}"#;
    world.send(Method::PUT, "/api/v1/secrets/infra/chat-token", body).await;
    world.send(Method::PUT, "/api/v1/secrets/infra/other", body).await;
    assert_eq!(woken(&world), [Wake::Provider(chat())]);
}
