//! Lists in pages, the installation, secrets, metrics, and what browsers see.

use axum::http::{Method, StatusCode};
use ulid::Ulid;
use yuba_core::attempt::Attempt;
use yuba_core::effect::{Effect, PendingEffect};
use yuba_core::id::{SecretName, StackId, StackName};
use yuba_core::job::object;
use yuba_core::message::{Cause, Wake};
use yuba_core::record::{Edge, Key};
use yuba_core::run::RunState;
use yuba_core::stack::{Shown, Stack};
use yuba_core::time::{Span, Timestamp};
use yuba_ports::Clock;

use crate::kit::{STACK, World};

#[tokio::test]
async fn a_list_is_paged_through_without_loss_or_repetition() {
    let world = World::new().await;
    for number in 2..=5_u32 {
        world.stack(&format!("stack-{number}"), StackId(Ulid::from_parts(1, number.into()))).await;
    }
    let (mut names, mut path) = (Vec::new(), "/api/v1/stacks?limit=2".to_owned());
    loop {
        let (_, page) = world.get(&path).await;
        let page: serde_json::Value = serde_json::from_str(&page).unwrap();
        let items = page.pointer("/items").unwrap().as_array().unwrap();
        assert!(items.len() <= 2);
        names.extend(items.iter().map(|item| item.pointer("/name").unwrap().as_str().unwrap().to_owned()));
        let Some(next) = page.get("next").and_then(serde_json::Value::as_str) else { break };
        path = format!("/api/v1/stacks?limit=2&cursor={next}");
    }
    assert_eq!(names, ["network", "stack-2", "stack-3", "stack-4", "stack-5"]);
}

#[tokio::test]
async fn a_pause_is_signed_and_its_end_wakes_what_waits() {
    let world = World::new().await;
    let run = world.run(|run| run.state = RunState::AwaitingApproval).await;
    world.put(&Stack { run: Some(run.id), ..stack() }).await;
    let body = r#"{"who":"ada","message":"freeze"}"#;
    let (status, paused) = world.send(Method::POST, "/api/v1/installation/pause", body).await;
    assert_eq!(status, StatusCode::OK);
    assert!(paused.contains(r#""who":"ada""#) && paused.contains("freeze"), "{paused}");
    assert!(world.get("/api/v1/installation").await.1.contains(r#""who":"ada""#));
    assert!(world.memory.queue.pending().is_empty());
    let (_, unpaused) = world.send(Method::POST, "/api/v1/installation/unpause", "").await;
    assert_eq!(unpaused, r#"{"paused":null}"#);
    let woken: Vec<Wake> = world.memory.queue.pending().into_iter().map(|message| message.wake).collect();
    assert_eq!(woken, [Wake::Stack(STACK)]);
}

fn stack() -> Stack {
    Stack::new(STACK, StackName::new("infra", "network"), Timestamp(1_796_027_157_000))
}

#[tokio::test]
async fn secrets_go_in_wake_their_readers_and_never_come_out() {
    let world = World::new().await;
    let name = SecretName::new("infra", "db");
    world.put(&Edge { at: Key::reader(&name, STACK), stack: STACK, name: stack().name }).await;
    let body = r#"{"values":{"password":"hunter2"}}"#;
    let (status, item) = world.send(Method::PUT, "/api/v1/secrets/infra/db", body).await;
    assert_eq!(status, StatusCode::OK, "{item}");
    world.send(Method::PUT, "/api/v1/secrets/infra/db", r#"{"values":{"user":"ada"}}"#).await;
    let (_, list) = world.get("/api/v1/secrets?namespace=infra").await;
    assert!(list.contains(r#""keys":["password","user"]"#) && !list.contains("hunter2"), "{list}");
    let causes = world.memory.queue.pending().into_iter().map(|message| message.cause);
    assert_eq!(causes.filter(|cause| matches!(cause, Cause::Values { .. })).count(), 2);
}

#[tokio::test]
async fn metrics_say_how_long_things_have_waited() {
    let world = World::new().await;
    let now = world.memory.clock.now();
    let golden = include_str!("../../../../shared/core/tests/golden/attempt.v1.json");
    let attempt: Attempt = serde_json::from_str(golden).unwrap();
    let run = world
        .run(|run| {
            run.state = RunState::Applying;
            run.attempts.last_mut().unwrap().ended = None;
        })
        .await;
    let id = run.attempt_out().unwrap();
    let (claimed_at, heard_at) = (Some(now), Some(now + Span::seconds(10)));
    let state = yuba_core::attempt::AttemptState::Claimed;
    world.put(&Attempt { id, state, claimed_at, heard_at, report: None, ..attempt }).await;
    let effect = Effect::WakeDependants { run: run.id };
    let (key, since, due) = (effect.key(), now + Span::seconds(20), now + Span::minutes(9));
    let pending = PendingEffect { key, effect, since, tries: 1, due, trouble: None, given_up: false };
    let shown = Shown { state: "applying".to_owned(), ..Shown::default() };
    let due = Some(now + Span::seconds(30));
    world.put(&Stack { run: Some(run.id), outbox: vec![pending], shown, due, given_up: 3, ..stack() }).await;
    world.memory.clock.advance(Span::seconds(60));
    let (_, metrics) = world.get("/metrics").await;
    for line in [
        "yuba_stacks{ready=\"Unknown\"} 1",
        "yuba_runs{state=\"applying\"} 1",
        "yuba_effects_pending 1",
        "yuba_oldest_pending_effect_seconds 40",
        "yuba_oldest_due_seconds 30",
        "yuba_claims_without_report 1",
        "yuba_longest_silence_seconds 50",
        "yuba_paused 0",
        "# TYPE yuba_effects_given_up_total counter",
        "yuba_effects_given_up_total 3",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} is not in\n{metrics}");
    }
}

#[tokio::test]
async fn pages_show_stacks_and_a_run_with_its_plan_and_log() {
    let world = World::new().await;
    let run = world.run(|_| {}).await;
    world.object(&run, 0, object::PLAN_TEXT, "2 to add <script>").await;
    world.object(&run, 0, object::LOG, "planned\n").await;
    let (status, home) = world.get("/").await;
    assert_eq!(status, StatusCode::OK);
    assert!(home.contains("network") && home.contains(&format!("/runs/{}", run.id)), "{home}");
    let (_, page) = world.get(&format!("/runs/{}", run.id)).await;
    assert!(page.contains("2 to add &lt;script&gt;") && page.contains("── plan 1 ──\nplanned"), "{page}");
    assert_eq!(world.get("/runs/nonsense").await.0, StatusCode::BAD_REQUEST);
}
