//! Plans, outputs, and why.

use axum::http::StatusCode;
use yuba_core::job::object;

use crate::kit::World;

const PLAN: &str = r#"{"format_version":"1.2","resource_changes":[
    {"address":"toy.a","type":"toy","change":{"actions":["create"],"before":null,"after":{"x":1}}},
    {"address":"toy.b","type":"toy","change":{"actions":["delete"],"before":{},"after":null}}]}"#;

async fn world() -> (World, String) {
    let world = World::new().await;
    let run = world.run(|_| {}).await;
    let summary = yuba_core::plan::read(PLAN.as_bytes()).unwrap().summary;
    world.object(&run, 0, object::SUMMARY, &serde_json::to_string(&summary).unwrap()).await;
    world.object(&run, 0, object::PLAN_TEXT, "as people read it").await;
    world.object(&run, 0, object::PLAN_JSON, r#"{"redacted":true}"#).await;
    let outputs =
        r#"{"id":{"sensitive":false,"value":"n-1"},"password":{"sensitive":true,"value":"hunter2"}}"#;
    world.object(&run, 1, object::OUTPUTS, outputs).await;
    (world, format!("/api/v1/runs/{}/plan", run.id))
}

#[tokio::test]
async fn a_plan_is_shown_in_three_forms() {
    let (world, path) = world().await;
    assert_eq!(world.get(&path).await, (StatusCode::OK, "as people read it".to_owned()));
    assert_eq!(world.get(&format!("{path}?format=json")).await.1, r#"{"redacted":true}"#);
    let (_, summary) = world.get(&format!("{path}?format=summary")).await;
    assert!(summary.contains(r#""create":1,"update":0,"delete":1"#), "{summary}");
    assert_eq!(world.get(&format!("{path}?format=xml")).await.0, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_narrowed_plan_has_its_own_counts_and_an_unknown_address_is_told() {
    let (world, path) = world().await;
    let (_, part) = world.get(&format!("{path}?format=summary&address=toy.a")).await;
    assert!(part.contains(r#""create":1,"update":0,"delete":0"#), "{part}");
    let (status, problem) = world.get(&format!("{path}?format=summary&address=toy.c")).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(
        problem.contains("nothing in the plan is at or under `toy.c`; near are toy.a, toy.b"),
        "{problem}"
    );
}

#[tokio::test]
async fn a_run_without_a_plan_says_so() {
    let world = World::new().await;
    let run = world.run(|run| run.plan = None).await;
    let (status, problem) = world.get(&format!("/api/v1/runs/{}/plan", run.id)).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(problem.contains("has no stored plan"), "{problem}");
}

#[tokio::test]
async fn sensitive_outputs_are_shown_when_asked_for() {
    let (world, _) = world().await;
    let (_, shown) = world.get("/api/v1/stacks/infra/network/outputs").await;
    assert!(shown.contains("n-1") && !shown.contains("hunter2"), "{shown}");
    let (_, shown) = world.get("/api/v1/stacks/infra/network/outputs?reveal=true").await;
    assert!(shown.contains("hunter2"), "{shown}");
    let (status, problem) = world.get("/api/v1/stacks/infra/network/inventory").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(problem.contains("enableInventory: true"), "{problem}");
}

#[tokio::test]
async fn why_is_asked_of_whoever_knows() {
    let world = World::new().await;
    let (_, why) = world.get("/api/v1/stacks/infra/network/why").await;
    assert!(why.contains("there is no run yet: nobody asked for infra/network"), "{why}");
    let (status, problem) = world.get("/api/v1/stacks/infra/network/why?revision=0123").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(problem.contains("revision `0123` is not known"), "{problem}");
}
