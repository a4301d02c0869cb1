//! What comes twice, or in another order than it was sent: webhooks, and messages of queues.

use serde_json::json;
use yuba_core::record::Key;
use yuba_core::source::Delivery;
use yuba_ports::records::load;
use yuba_toy_cloud::repeats;

use crate::world::World;

impl World {
    /// Waits until a look at the source was noted as what became of a delivery; that at the manifests may come before.
    async fn looked_for(&self, delivery: &str) {
        let is_noted = async || {
            let known = load::<Delivery>(&self.store(), &Key::delivery(delivery)).await.unwrap()?;
            known.outcome.as_ref()?.contains("default/infra: ").then_some(())
        };
        self.until(&format!("{delivery} comes to a look at the source"), is_noted).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_that_come_twice_and_in_another_order_end_at_the_newest_commit() {
    let world = World::bare().await;
    let begin = world.network("interval: 1h\napprovePlan: auto").await;
    world.wait("applied");
    let first = world.describe_network("first");
    let second = world.describe_network("second");

    let (newer, older) = (("d-2", &*first, &*second), ("d-1", &*begin, &*first));
    for delivery in [newer, older, older, newer] {
        let (status, answer) = world.github(delivery).await;
        assert_eq!(status, 202, "{answer}");
    }
    for delivery in ["d-1", "d-2"] {
        world.looked_for(delivery).await;
    }
    let is_there = || world.cloud.read("toy_network", "net-net").unwrap().unwrap()["description"] == "second";
    world.until("the second is applied", async || is_there().then_some(())).await;
    world.wait("applied");
    world.settled().await;

    let runs = world.runs().await;
    let newest = runs.iter().filter(|run| run.revision.to_string().ends_with(&second));
    assert_eq!(newest.count(), 1, "{runs:?}");
    assert!(runs.len() <= 3 && runs[0].revision.to_string().ends_with(&second), "{runs:?}");
    assert_eq!(repeats(&world.cloud.journal().unwrap()), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_are_delivered_again_and_again_start_nothing_twice() {
    let world = World::bare().await;
    let undeleted = json!({ "to": "DeleteMessage", "with": "InternalError 500", "every": 2 });
    world.control(&json!({ "redeliver": 2, "events": 2, "answers": [undeleted] }));
    world.network("interval: 1h\napprovePlan: ''").await;
    world.wait("awaiting-approval");
    let (said, code) = world.yuba(&["approve", "net"]);
    assert_eq!(code, Some(0), "{said}");
    world.wait("applied");
    world.settled().await;

    assert!(world.met()[0] >= 2);
    assert_eq!(world.runs().await.len(), 1);
    let attempts = world.attempts().await;
    assert_eq!(attempts.len(), 2, "{attempts:?}");
    assert!(attempts.iter().all(|attempt| world.noted(*attempt).unwrap()["status"] == "STOPPED"));
    assert_eq!(repeats(&world.cloud.journal().unwrap()), Vec::<String>::new());
}
