//! What is known of states: one that was left behind, and one that was only looked into.

use axum::http::StatusCode;
use yuba_core::id::SourceName;
use yuba_core::job::object;
use yuba_core::run::{Failure, FailureClass, Run, RunState};
use yuba_core::source::{Source, SourceFailure};
use yuba_core::stack::{Applied, Stack};
use yuba_core::time::Timestamp;

use crate::kit::{STACK, World};

const NOW: Timestamp = Timestamp(1_796_027_157_000);

/// A run that failed and could not save its state.
fn failed(run: &mut Run) {
    let (class, message) = (FailureClass::Transient, "the backend is away".to_owned());
    run.state = RunState::Failed;
    run.failure = Some(Failure { class, message, detail: String::new(), lock: None, errored_state: true });
}

#[tokio::test]
async fn a_state_that_was_left_behind_is_shown_without_its_values() {
    let world = World::new().await;
    let run = world.run(failed).await;
    let state = r#"{"version":4,"serial":3,"lineage":"5f2a","outputs":{"a":{"value":"s3cr3t"}},"resources":[{"mode":"managed",
        "type":"toy","name":"one","instances":[{"attributes":{"x":"s3cr3t"}}]}]}"#;
    world.object(&run, run.attempts.len() - 1, object::ERRORED_STATE, state).await;
    let (status, shown) = world.get(&format!("/api/v1/runs/{}/recovery", run.id)).await;
    assert_eq!(status, StatusCode::OK, "{shown}");
    assert!(shown.contains(r#""state":{"serial":3,"lineage":"5f2a","resources":["toy.one"]}"#), "{shown}");
    assert!(shown.contains(r#""target":"the backend that its code or manifest names"#), "{shown}");
    assert!(!shown.contains("s3cr3t"), "{shown}");
}

#[tokio::test]
async fn a_run_that_left_nothing_behind_has_nothing_to_recover() {
    let world = World::new().await;
    let run = world.run(|_| ()).await;
    let (status, problem) = world.get(&format!("/api/v1/runs/{}/recovery", run.id)).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(problem.contains("left no state behind that could be pushed"), "{problem}");
}

/// The stack, whose last run found nothing to do.
async fn unchanged(world: &World) -> Run {
    let run = world
        .run(|run| {
            run.state = RunState::Unchanged;
            run.attempts.truncate(1);
        })
        .await;
    let (wanted, spec, commit) = (run.wanted.clone(), run.spec.clone(), run.commit.clone());
    let (revision, tree, observation) = (run.revision.clone(), run.tree.clone(), run.observation);
    let applied =
        Applied { run: run.id, revision, tree, observation, wanted, spec, commit, at: NOW, destroyed: false };
    world.put(&Stack { applied: Some(applied), ..Stack::new(STACK, run.name.clone(), NOW) }).await;
    run
}

#[tokio::test]
async fn outputs_are_known_of_a_plan_that_found_nothing_to_do() {
    let world = World::new().await;
    let run = unchanged(&world).await;
    let (status, problem) = world.get("/api/v1/stacks/infra/network/outputs").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(problem.contains(&format!("run {} of infra/network", run.id)), "{problem}");
    assert!(problem.contains("looks into the state again"), "{problem}");
    world.object(&run, 0, object::OUTPUTS, r#"{"id":{"sensitive":false,"value":"net-1"}}"#).await;
    let (_, outputs) = world.get("/api/v1/stacks/infra/network/outputs").await;
    assert!(outputs.contains("net-1"), "{outputs}");
    let (_, problem) = world.get("/api/v1/stacks/infra/network/inventory").await;
    assert!(problem.contains("enableInventory: true"), "{problem}");
}

#[tokio::test]
async fn of_a_stack_that_was_never_applied_it_is_said_how_it_stands() {
    let world = World::new().await;
    let (status, problem) = world.get("/api/v1/stacks/infra/network/outputs").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(problem.contains("nothing of infra/network was applied yet: it had no run yet"), "{problem}");
}

#[tokio::test]
async fn a_stack_whose_source_is_in_trouble_says_so() {
    let world = World::new().await;
    world.names_one_state(&["network"]).await;
    let (_, shown) = world.get("/api/v1/stacks/infra/network").await;
    assert!(shown.contains(r#""source_trouble":"no manifest defines source "#), "{shown}");
    let golden = include_str!("../../../../shared/core/tests/golden/source.v1.json");
    let mut source: Source = serde_json::from_str(golden).unwrap();
    (source.name, source.failure) = (SourceName::new("infra", "infra"), None);
    world.put(&source).await;
    let (_, shown) = world.get("/api/v1/stacks/infra/network").await;
    assert!(!shown.contains("source_trouble"), "{shown}");
    let message = "there is no branch `main`".to_owned();
    source.failure = Some(SourceFailure { message, count: 1, since: NOW });
    world.put(&source).await;
    let (_, shown) = world.get("/api/v1/stacks/infra/network").await;
    assert!(shown.contains("cannot be read: there is no branch `main`"), "{shown}");
}
