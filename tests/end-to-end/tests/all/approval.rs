//! Who lets a plan be applied.

use std::fs;

use serde_json::Value;
use yuba_end_to_end::World;

use crate::network;

#[test]
fn an_automatic_stack_applies_by_itself_and_writes_its_outputs() {
    let mut world = World::new();
    world.stack("dev", &network("dev", "one"), "approvePlan: auto\nwriteOutputsToSecret: {name: dev-out}");
    world.begin();
    world.wait("dev", "applied");
    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-dev"]);
    let outputs = world.yuba(&["outputs", "dev"]).ok();
    assert!(outputs.contains("net-dev"), "{outputs}");
    let secrets = world.yuba(&["secret", "list"]).ok();
    assert!(secrets.contains("infra") && secrets.contains("dev-out"), "{secrets}");
}

#[test]
fn a_plan_waits_and_only_the_current_one_can_be_approved() {
    let mut world = World::new();
    world.stack("prod", &network("prod", "one"), "");
    world.begin();
    world.wait("prod", "awaiting-approval");
    let old = world.repository.plan_id();
    world.repository.replace("stacks/prod/main.tf", "one", "two");
    world.repository.push("Change");
    world
        .yuba(&[
            "wait",
            "prod",
            "--for",
            "awaiting-approval",
            "--revision",
            &world.repository.head(),
            "--timeout",
            "90s",
        ])
        .ok();
    let refused = world.yuba(&["approve", "prod", "--plan", &old]).failed_with(3);
    assert!(refused.contains(&world.repository.plan_id()), "the current plan is named: {refused}");
    assert_eq!(world.cloud.ids("toy_network").unwrap(), Vec::<String>::new());
    world.yuba(&["approve", "prod", "--plan", &world.repository.plan_id()]).ok();
    world.wait("prod", "applied");
    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-prod"]);
}

#[test]
fn an_approval_committed_beside_the_code_approves_and_does_not_loop() {
    let mut world = World::new();
    world.stack("prod", &network("prod", "one"), "approvePlan: \"\"");
    world.begin();
    world.wait("prod", "awaiting-approval");
    let plan = world.repository.plan_id();
    world.repository.replace("flux/prod.yaml", "approvePlan: \"\"", &format!("approvePlan: {plan}"));
    world.repository.push("Approve");
    world.wait("prod", "applied");
    world.yuba(&["reconcile", "prod", "--wait"]).ok();
    assert_eq!(world.states("prod"), ["applied", "unchanged"]);
}

#[test]
fn a_rejected_plan_is_dropped_and_kubectl_hands_can_approve_the_next() {
    let mut world = World::new();
    world.stack("prod", &network("prod", "one"), "");
    world.begin();
    world.wait("prod", "awaiting-approval");
    world.yuba(&["reject", "prod", "--message", "not now"]).ok();
    world.wait("prod", "discarded");
    world.repository.replace("stacks/prod/main.tf", "one", "two");
    world.repository.push("Change");
    world.wait("prod", "awaiting-approval");
    let patch = format!(r#"{{"spec":{{"approvePlan":"{}"}}}}"#, world.repository.plan_id());
    world.yuba(&["patch", "terraform", "prod", "--type=merge", "-p", &patch]).ok();
    world.wait("prod", "applied");
}

#[test]
fn a_stack_whose_state_lives_elsewhere_waits_and_is_adopted_with_it() {
    let mut world = World::new();
    world.stack("prod", &network("prod", "one"), "approvePlan: auto");
    world.repository.replace("flux/prod.yaml", "  annotations: {yuba.dev/state: new}\n", "");
    let state = world.applied_elsewhere("prod");
    world.begin();
    world.wait("prod", "awaiting-adoption");
    world.yuba(&["adopt", "prod", "--state", &state]).ok();
    world.wait("prod", "unchanged");
    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-prod"], "nothing was made a second time");
}

#[test]
fn a_state_is_not_pushed_over_one_of_another_lineage_that_came_meanwhile() {
    let mut world = World::new();
    world.stack("prod", &network("prod", "one"), "approvePlan: auto");
    world.repository.replace("flux/prod.yaml", "  annotations: {yuba.dev/state: new}\n", "");
    let state = world.applied_elsewhere("prod");
    world.begin();
    world.wait("prod", "awaiting-adoption");
    let described: Value =
        serde_json::from_str(&world.yuba(&["describe", "prod", "-o", "json"]).ok()).unwrap();
    let held =
        world.dir().join("data/state").join(described["id"].as_str().unwrap()).join("terraform.tfstate");
    fs::create_dir_all(held.parent().unwrap()).unwrap();
    let mut other: Value = serde_json::from_str(&fs::read_to_string(&state).unwrap()).unwrap();
    other["lineage"] = "another".into();
    fs::write(&held, other.to_string()).unwrap();
    world.yuba(&["adopt", "prod", "--state", &state]).ok();
    world.wait("prod", "failed");
    let status = world.get("prod")["status"].to_string();
    assert!(status.contains("over unrelated state with lineage"), "{status}");
    assert_eq!(fs::read_to_string(&held).unwrap(), other.to_string(), "it was left as it is");
    world.yuba(&["replan", "prod"]).ok();
    world.wait("prod", "unchanged");
    assert_eq!(world.states("prod"), ["failed", "unchanged"], "what is there counts");
}
