//! The main job: from a push to what was made, and what of it is told.

use crate::world::{WEBHOOK_SECRET, World};

#[tokio::test(flavor = "multi_thread")]
async fn a_push_is_planned_approved_and_applied_and_its_outputs_are_kept() {
    let world = World::bare().await;
    world.network("approvePlan: ''\nwriteOutputsToSecret: {name: net-outputs}");
    let (status, answer) = world.push(WEBHOOK_SECRET).await;
    assert_eq!(status, 202, "{answer}");

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
