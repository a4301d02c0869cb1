//! Providers that are down, refuse, or are set up wrong.

use yuba_core::event::EventKind;
use yuba_core::id::RequestId;
use yuba_core::message::{Cause, Wake};
use yuba_core::notify::{NoticeState, Notification, Occasion};
use yuba_core::request::Signed;
use yuba_core::time::Span;
use yuba_ports::Clock;

use super::ASKS;
use super::world::{World, named};

const FAILED: EventKind = EventKind::EffectFailed;

#[tokio::test]
async fn a_provider_that_is_down_holds_up_its_own_messages_and_loses_none() {
    let world = World::new().await;
    world.provider("other", |_| ()).await;
    world.alert("other", |_| ()).await;
    world.secret("other", &[("token", "xoxb-2")]);
    world.web.answers(503, "try later");
    for message in ["one", "two", "three"] {
        world.event(FAILED, message).await;
    }
    assert_eq!(world.web.sent().len(), 4, "one try of `chat`, three messages to `other`");
    assert_eq!(world.trouble("chat").await, "HTTP 503: try later");
    let pending = world.pending("chat").await;
    let tries: Vec<u32> = pending.iter().map(|notification| notification.tries).collect();
    assert_eq!(tries, [1, 0, 0]);
    assert!(pending.iter().all(|notification| notification.state == pending[0].state), "{pending:?}");
    world.passes(Span::seconds(10), "chat").await;
    assert_eq!(world.web.sent().len(), 3);
    assert_eq!((world.pending("chat").await, world.trouble("chat").await), (vec![], String::new()));
}

#[tokio::test]
async fn what_is_missing_is_named_and_sent_once_it_is_there() {
    let world = World::bare();
    world.provider("chat", |_| ()).await;
    world.alert("chat", |_| ()).await;
    world.event(ASKS, "A plan waits for approval.").await;
    assert_eq!(
        world.trouble("chat").await,
        "there is no secret infra/chat: `yuba secret set infra/chat` writes it"
    );
    world.secret("chat", &[("token", "xoxb-1")]);
    let cause = Cause::Values { name: "Secret infra/chat".to_owned(), version: "1".to_owned() };
    world.send(Wake::Provider(named("chat")), cause).await;
    world.work().await;
    assert_eq!(world.web.sent().len(), 1);
    assert_eq!(world.trouble("chat").await, "");
}

#[tokio::test]
async fn a_message_that_is_not_taken_is_given_up_and_the_next_is_sent() {
    let world = World::new().await;
    world.web.answers(200, r#"{"ok":false,"error":"invalid_blocks"}"#);
    world.event(FAILED, "one").await;
    world.event(FAILED, "two").await;
    assert_eq!(world.web.sent().len(), 2);
    let settled = world.settled("chat").await;
    let now = world.memory.clock.now();
    assert_eq!(settled[0].state, NoticeState::GivenUp { at: now });
    assert_eq!(settled[0].trouble.as_deref(), Some("Slack does not take the message: `invalid_blocks`"));
    assert_eq!(settled[1].state, NoticeState::Sent { at: now });
}

#[tokio::test]
async fn what_could_not_be_sent_for_a_day_is_given_up() {
    let world = World::new().await;
    world.web.answers(500, "");
    world.web.answers(500, "");
    world.event(FAILED, "one").await;
    world.event(FAILED, "two").await;
    world.passes(Span::hours(24), "chat").await;
    let given_up = world.settled("chat").await;
    let reasons: Vec<Option<&str>> = given_up.iter().map(|it| it.trouble.as_deref()).collect();
    assert_eq!(reasons, [Some("HTTP 500"), Some("HTTP 500")]);
    assert_eq!(world.pending("chat").await, []);
}

#[tokio::test]
async fn a_message_that_somebody_deleted_is_sent_anew() {
    let mut world = World::new().await;
    world.event(ASKS, "A plan waits for approval.").await;
    world.stands(yuba_core::run::RunState::Applying, |_, _| ()).await;
    world.web.answers(200, r#"{"ok":false,"error":"message_not_found"}"#);
    world.event(EventKind::ApplyStarted, "The apply was started.").await;
    let sent = world.web.sent();
    assert!(
        sent[1].starts_with("chat.update 1.0: ") && sent[2].starts_with("chat.postMessage: "),
        "{sent:?}"
    );
    world.stands(yuba_core::run::RunState::Applied, |_, _| ()).await;
    world.event(EventKind::RunApplied, "Applied successfully: main").await;
    assert!(world.web.sent()[0].starts_with("chat.update 3.0: "), "the new one is edited from then on");
}

#[tokio::test]
async fn somebody_who_tries_a_provider_is_answered_at_once() {
    let world = World::new().await;
    world.web.answers(503, "");
    world.event(FAILED, "one").await;
    world.web.answers(200, r#"{"ok":false,"error":"token_revoked"}"#);
    let now = world.memory.clock.now();
    let by = Signed {
        who: "ada".to_owned(),
        at: now,
        from: "cli".to_owned(),
        message: String::new(),
        identity: None,
    };
    let id = RequestId(ulid::Ulid(5));
    let test = Notification::new(named("chat"), Occasion::Test { id, by }, now);
    world.put(&test).await;
    world.passes(Span::ZERO, "chat").await;
    let sent = world.web.sent();
    assert_eq!(sent[1], "chat.postMessage: ada tries whether messages of Yuba arrive here. They do.");
    let given_up = &world.settled("chat").await[0];
    assert_eq!(given_up.state, NoticeState::GivenUp { at: now });
    assert!(given_up.trouble.as_ref().unwrap().contains("token_revoked"), "{given_up:?}");
    assert_eq!(world.pending("chat").await.len(), 1, "what waited still waits");
}

#[tokio::test]
async fn what_a_provider_that_vanished_was_to_send_is_given_up() {
    let world = World::new().await;
    world.web.answers(503, "");
    world.event(FAILED, "one").await;
    world.vanish("chat").await;
    world.passes(Span::minutes(1), "chat").await;
    assert_eq!(world.pending("chat").await, []);
    assert_eq!(
        world.settled("chat").await[0].trouble.as_deref(),
        Some("there is no provider infra/chat any more")
    );
}
