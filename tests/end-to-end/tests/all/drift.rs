//! Reality is changed by hand, behind tofu's back.

use yuba_end_to_end::World;

use crate::network;

fn by_hand(world: &World, id: &str) {
    let edit =
        |body: &mut yuba_toy_cloud::Body| drop(body.insert("description".to_owned(), "by hand".into()));
    world.cloud.edit("toy_network", id, edit).unwrap();
}

#[test]
fn drift_is_found_named_by_attribute_approved_and_put_right() {
    let mut world = World::new();
    world.stack("prod", &network("prod", "one"), "");
    world.begin();
    world.wait("prod", "awaiting-approval");
    world.yuba(&["approve", "prod"]).ok();
    world.wait("prod", "applied");
    by_hand(&world, "net-prod");
    world.yuba(&["drift", "check", "prod"]).failed_with(2);
    assert_eq!(world.get("prod")["status"], "Drift detected: 1 resource");
    let described = world.yuba(&["describe", "prod"]).ok();
    for part in ["toy_network.this", "description", "by hand"] {
        assert!(described.contains(part), "{part} is missing:\n{described}");
    }
    let (listed, run) = (world.get("prod"), world.run_ids("prod").pop().unwrap());
    assert_eq!(listed["run"], run.as_str(), "{listed}");
    let shown = world.yuba(&["show", "plan", &run]).ok();
    assert!(shown.contains("by hand"), "{shown}");
    world.yuba(&["approve", "prod", "--plan", listed["plan"].as_str().unwrap()]).ok();
    world.wait("prod", "applied");
    assert_eq!(world.cloud.read("toy_network", "net-prod").unwrap().unwrap()["description"], "one");
    world.yuba(&["drift", "check", "prod"]).ok();
}

#[test]
fn drift_of_an_automatic_stack_is_put_right_by_itself() {
    let mut world = World::new();
    world.stack("dev", &network("dev", "one"), "approvePlan: auto");
    world.begin();
    world.wait("dev", "applied");
    by_hand(&world, "net-dev");
    world.yuba(&["drift", "check", "dev"]).failed_with(2);
    world.wait("dev", "applied");
    assert_eq!(world.cloud.read("toy_network", "net-dev").unwrap().unwrap()["description"], "one");
    assert_eq!(world.states("dev"), ["applied", "drifted", "applied"]);
}

#[test]
fn what_was_deleted_by_hand_is_reported_as_gone() {
    let mut world = World::new();
    world.stack("prod", &network("prod", "one"), "");
    world.begin();
    world.wait("prod", "awaiting-approval");
    world.yuba(&["approve", "prod"]).ok();
    world.wait("prod", "applied");
    world.cloud.delete("toy_network", "net-prod").unwrap();
    world.yuba(&["drift", "check", "prod"]).failed_with(2);
    let described = world.yuba(&["describe", "prod"]).ok();
    assert!(described.contains("toy_network.this"), "{described}");
}
