//! The functions' programs, packaged as for AWS and deployed as the plan of `infra/` says, on an emulator that runs them.
//! Where a test does not say what a task asks for and tells, its tasks are the real runner.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test's helper fails the test")]

mod applied;
mod deliveries;
mod large;
mod lost;
mod people;
mod races;
mod repository;
mod runner;
mod task;
mod world;

use serde_json::{Value, json};
use yuba_core::token::{TokenUse, task_token};
use yuba_ports::{Launcher, TaskStatus};

use world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_push_becomes_a_task_and_what_cannot_be_read_a_dead_letter() {
    let world = World::deploy("approvePlan: auto", "").await;

    let (status, answer) = world.push("not the secret, and as long as one").await;
    assert_eq!(status, 401, "{answer}");
    let (status, answer) = world.push(world::WEBHOOK_SECRET).await;
    assert_eq!(status, 202, "{answer}");

    let attempt = world.until("a task runs", async || world.task().await).await;
    assert_eq!(world.launcher().describe(attempt).await.unwrap(), TaskStatus::Running);

    let body = json!({ "schema": 1, "attempt": attempt });
    let token = task_token(world::KEY.as_bytes(), TokenUse::Claim, attempt);
    let (status, refused) = world.post("tasks", "/tasks/claim", "x", &body).await;
    assert_eq!(status, 401, "{refused}");
    let (status, claim) = world.post("tasks", "/tasks/claim", &token, &body).await;
    assert_eq!(status, 200, "{claim}");
    let claim: Value = serde_json::from_str(&claim).unwrap();
    assert_eq!(claim["job"]["attempt"], attempt.to_string());
    assert_eq!(claim["objects"]["bucket"]["root"], "demo/");
    assert!(claim["objects"]["bucket"]["credentials"]["AWS_SESSION_TOKEN"].is_string());

    let (status, stacks) = world.get("api", "/api/v1/stacks", world::TOKEN).await;
    assert_eq!(status, 200, "{stacks}");
    let stacks: Value = serde_json::from_str(&stacks).unwrap();
    assert_eq!(
        (&stacks["items"][0]["name"], &stacks["items"][0]["state"]),
        (&json!("net"), &json!("planning"))
    );

    let dead = async || {
        let dead = world.dead_letters().await;
        (!dead.is_empty()).then_some(dead)
    };
    let dead = world.until("the poison is a dead letter", dead).await;
    let [(message, why)] = &dead[..] else { panic!("a neighbour went with it: {dead:?}") };
    assert_eq!(message, world::POISON);
    assert!(why.starts_with("it cannot be read: expected value at line 1"), "{why}");
    let told = "stacks: 1 message is sent again\n".to_owned();
    assert_eq!(world.yuba(&["queue", "redrive", "stacks"]), (told, Some(0)));
    assert_eq!(world.dead_letters().await, []);
}

#[test]
fn all_that_is_wrong_with_settings_is_told_at_start() {
    let told = world::start("orchestrator", &[("YUBA_TABLE", "t"), ("YUBA_INSTALLATION", "prod")]);
    assert!(told.contains("settings are missing or malformed"), "{told}");
    for name in ["YUBA_TABLE is malformed", "YUBA_BUCKET is not set", "YUBA_TASK_KEY is not set"] {
        assert!(told.contains(name), "{name}: {told}");
    }
    assert!(!told.contains("YUBA_INSTALLATION"), "{told}");
}
