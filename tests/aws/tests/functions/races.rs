//! Services that refuse, and functions that work on one stack at once.

use serde_json::json;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::Index;
use yuba_core::run::RunState;
use yuba_core::stack::Stack;
use yuba_core::time::Timestamp;
use yuba_toy_cloud::repeats;

use crate::world::World;

const AUTO: &str = "interval: 1h\napprovePlan: auto";

impl World {
    /// That all was done, and nothing twice.
    async fn applied_once(&self) {
        self.wait("applied");
        self.settled().await;
        let runs = self.runs().await;
        assert_eq!(runs.len(), 1, "{runs:?}");
        let attempts = self.attempts().await;
        assert_eq!(attempts.len(), 2, "{attempts:?}");
        assert_eq!(repeats(&self.cloud.journal().unwrap()), Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_cancelled_while_ecs_throttles_starts_no_task() {
    let world = World::bare().await;
    world.control(&json!({ "refuse": "ThrottlingException" }));
    world.network(AUTO).await;
    let waits = async || world.yuba(&["describe", "net"]).0.contains("Rate exceeded").then_some(());
    world.until("the task is refused", waits).await;
    let throttled = world.attempts().await;
    let (said, code) = world.yuba(&["cancel", "net"]);
    assert_eq!(code, Some(0), "{said}");
    world.wait("cancelled");

    world.control(&json!({}));
    let (said, code) = world.yuba(&["replan", "net"]);
    assert_eq!(code, Some(0), "{said}");
    world.wait("applied");
    world.settled().await;
    assert_eq!(throttled.len(), 1);
    assert_eq!(world.noted(throttled[0]), None, "it was never started");
}

#[tokio::test(flavor = "multi_thread")]
async fn orchestrators_that_work_on_one_stack_at_once_start_one_run() {
    let world = World::bare().await;
    world.network(AUTO).await;
    let stack =
        world.until("there is a stack", async || world.list::<Stack>(Index::Stacks).await.pop()).await;
    let message = Message::new(Wake::Stack(stack.id), Cause::Due { slot: Timestamp(i64::MAX / 2) });
    let is_over = async || world.runs().await.first().is_some_and(|run| run.state == RunState::Applied);
    let mut rounds = 0;
    while !is_over().await {
        let calls = (0..4).map(|number| world.invoke("orchestrator", number, &message));
        for (status, answer) in futures_util::future::join_all(calls).await {
            assert_eq!((status, answer.as_str()), (200, r#"{"batchItemFailures": []}"#));
        }
        rounds += 1;
    }
    assert!(rounds >= 5, "{rounds} rounds");
    world.applied_once().await;
}

/// Each third transaction and each fourth update meets another one; of each seventh transaction the answer is lost.
#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_refuses_and_loses_answers_costs_time_alone() {
    let world = World::bare().await;
    world.control(&json!({ "answers": [
        { "to": "TransactWriteItems", "with": "TransactionCanceledException", "every": 3 },
        { "to": "UpdateItem", "with": "TransactionConflictException", "every": 4 },
        { "to": "TransactWriteItems", "with": "InternalServerError 500", "every": 7, "done": true },
        { "to": "UpdateItem", "with": "InternalServerError 500", "every": 5, "done": true },
    ]}));
    world.network(AUTO).await;
    world.applied_once().await;
    let met = world.met();
    assert!(met.len() == 4 && met.iter().all(|met| *met >= 7), "{met:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_slows_down_is_asked_again_and_one_that_denies_is_named() {
    let world = World::bare().await;
    let (put, get) = ("PUT /yuba-demo-objects", "GET /yuba-demo-objects");
    world.control(&json!({ "answers": [
        { "to": put, "with": "SlowDown 503", "every": 3 },
        { "to": get, "with": "SlowDown 503", "every": 4 },
    ]}));
    world.network(AUTO).await;
    world.applied_once().await;
    let met = world.met();
    assert!(met.len() == 2 && met.iter().all(|met| *met >= 4), "{met:?}");

    world.control(&json!({ "answers": [{ "to": put, "with": "AccessDenied 403", "every": 1 }] }));
    let (said, code) = world.yuba(&["replan", "net"]);
    assert_eq!(code, Some(0), "{said}");
    world.wait("failed");
    let described = world.yuba(&["describe", "net"]).0;
    assert!(described.contains("AccessDenied"), "{described}");
    world.control(&json!({}));
    let (said, code) = world.yuba(&["replan", "net"]);
    assert_eq!(code, Some(0), "{said}");
    world.wait("unchanged");
}
