//! Tasks that are lost: killed, out of memory, never started, started when nobody waits for them any more.

use serde_json::json;
use yuba_core::id::{AttemptId, Phase};
use yuba_toy_cloud::Control;

use crate::world::World;

const PULL: &str = "CannotPullContainerError: pull image manifest has been retried 5 times";

impl World {
    /// Has calls of a verb wait, or go on.
    fn hold(&self, verb: Option<&str>) {
        let hold = verb.map(|verb| json!({ "hold": { verb: ["*"] } })).unwrap_or_default();
        let control = if hold.is_null() { Control::default() } else { serde_json::from_value(hold).unwrap() };
        self.cloud.set_control(&control).unwrap();
    }

    /// The attempt of a phase whose runner has claimed it and works.
    async fn working(&self, phase: Phase) -> AttemptId {
        let works = async || {
            let attempt = self.task().await.filter(|attempt| attempt.phase == phase)?;
            self.is_claimed(attempt).await.then_some(attempt)
        };
        self.until(&format!("a {phase} works"), works).await
    }

    fn described(&self) -> String {
        self.yuba(&["describe", "net"]).0
    }
}

/// EventBridge tells of each state twice here; the second is of no use.
#[tokio::test(flavor = "multi_thread")]
async fn a_plan_that_is_killed_is_made_again_and_an_apply_that_ran_out_of_memory_failed() {
    let world = World::bare().await;
    world.control(&json!({ "events": 2 }));
    world.hold(Some("plan"));
    world.network("interval: 1h\napprovePlan: auto").await;
    let plan = world.working(Phase::Plan).await;
    world.hold(Some("create"));
    world.control(&json!({ "events": 2, "kill": [plan] }));

    let apply = world.working(Phase::Apply).await;
    world.until("it makes something", async || world.cloud.journal().ok()?.pop()).await;
    world.control(&json!({ "events": 2, "kill": [apply], "memory": true }));
    world.wait("failed");
    let described = world.described();
    assert!(described.contains("OutOfMemoryError: Container killed due to memory usage"), "{described}");
    let (runs, _) = world.yuba(&["get", "runs"]);
    assert_eq!(runs.matches("tracked").count(), 1, "{runs}");
    assert_eq!(world.noted(apply).unwrap()["asked"], 1);
}

/// Nobody tells of the end of the first task; the schedule's sweep finds it.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_whose_end_nobody_told_of_is_found() {
    let world = World::bare().await;
    world.control(&json!({ "events": 0 }));
    world.hold(Some("plan"));
    world.network("interval: 1h\napprovePlan: auto").await;
    let plan = world.working(Phase::Plan).await;
    world.hold(None);
    world.control(&json!({ "events": 0, "kill": [plan] }));
    world.wait("applied");
    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-net"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_never_starts_fails_and_what_starts_after_that_changes_nothing() {
    let world = World::bare().await;
    world.control(&json!({ "fail": PULL }));
    world.network("interval: 1h\napprovePlan: auto").await;
    world.wait("failed");
    let described = world.described();
    assert!(described.contains(PULL), "{described}");

    let lost = world.attempts().await;
    assert_eq!(lost.len(), 3, "{lost:?}");
    world.control(&json!({ "late": true }));
    for attempt in lost {
        let code = async || world.noted(attempt)?["code"].as_i64();
        assert_eq!(world.until("it ends", code).await, 1);
        let said = world.said(attempt);
        assert!(said.contains(&format!("refused with 409: attempt {attempt} is closed")), "{said}");
    }
    let (said, code) = world.yuba(&["replan", "net"]);
    assert_eq!(code, Some(0), "{said}");
    world.wait("applied");
}
