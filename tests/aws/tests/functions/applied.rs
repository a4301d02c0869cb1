//! The main job: from a push to what was made, and what of it is told.

use serde_json::json;

use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn a_push_is_planned_approved_and_applied_and_its_outputs_are_kept() {
    let world = World::bare().await;
    world.network("interval: 1h\napprovePlan: ''\nwriteOutputsToSecret: {name: net-outputs}").await;

    world.wait("awaiting-approval");
    assert!(world.cloud.ids("toy_network").unwrap().is_empty(), "a plan makes nothing");
    let (said, code) = world.yuba(&["approve", "net"]);
    assert_eq!(code, Some(0), "{said}");
    world.wait("applied");

    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-net"]);
    let told = "NAME      VALUE\nnetwork   net-net\n".to_owned();
    assert_eq!(world.yuba(&["outputs", "net"]), (told, Some(0)));
    let (said, _) = world.yuba(&["secret", "list", "default/net-outputs"]);
    assert!(said.contains("network"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schedule_finds_drift_and_the_topic_tells_of_it() {
    let world = World::bare().await;
    let topic = world.subscribe("dev.yuba.drift.detected").await;
    world.network("interval: 5s\napprovePlan: auto").await;
    world.wait("applied");

    let by_hand =
        |body: &mut yuba_toy_cloud::Body| drop(body.insert("description".to_owned(), "by hand".into()));
    world.cloud.edit("toy_network", "net-net", by_hand).unwrap();
    let event = world.until("the topic tells of it", async || world.event(&topic).await).await;
    assert_eq!(
        (&event["subject"], &event["type"]),
        (&json!("default/net"), &json!("dev.yuba.drift.detected"))
    );
    assert!(world.yuba(&["describe", "net"]).0.contains("toy_network.this"));
}
