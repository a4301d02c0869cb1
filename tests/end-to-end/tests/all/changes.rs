//! Which stacks a push plans.

use std::fs;

use yuba_end_to_end::World;

use crate::network;

#[test]
fn only_stacks_whose_closure_changed_are_planned() {
    let mut world = World::new();
    let module = "module \"shared\" {\n  source = \"../../modules/shared\"\n}\n";
    world.repository.write("modules/shared/main.tf", "output \"answer\" {\n  value = \"41\"\n}\n");
    world.stack("uses", module, "approvePlan: auto");
    world.stack("other", &network("other", "one"), "approvePlan: auto");
    world.begin();
    world.wait("uses", "unchanged,applied");
    world.wait("other", "applied");
    world.repository.replace("modules/shared/main.tf", "41", "42");
    world.repository.push("Change the module");
    let head = world.repository.head();
    world.yuba(&["wait", "uses", "--for", "unchanged,applied", "--revision", &head, "--timeout", "90s"]).ok();
    assert_eq!(world.states("other"), ["applied"]);
    let why = world.yuba(&["why", "uses"]).ok();
    assert!(why.contains("modules/shared/main.tf"), "{why}");
}

#[test]
fn a_push_whose_webhook_was_too_large_is_found_by_the_poll() {
    let mut world = World::new();
    world.stack("dev", &network("dev", "one"), "approvePlan: auto");
    world.begin();
    world.wait("dev", "applied");
    world.repository.replace("stacks/dev/main.tf", "one", "two");
    let head = world.repository.push("Change");
    let answer = world.server().post("/webhooks/github", &vec![b' '; 25 * 1024 * 1024 + 1]);
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("the push is found when the source is polled"), "{answer}");
    world.yuba(&["wait", "dev", "--for", "applied", "--revision", &head, "--timeout", "90s"]).ok();
}

#[test]
fn a_force_push_back_is_newer_than_what_it_took_back() {
    let mut world = World::new();
    world.stack("dev", &network("dev", "one"), "approvePlan: auto");
    world.begin();
    world.wait("dev", "applied");
    world.repository.replace("stacks/dev/main.tf", "one", "two");
    let two = world.repository.push("Change");
    world.yuba(&["wait", "dev", "--for", "applied", "--revision", &two, "--timeout", "90s"]).ok();
    let one = world.repository.force_push_back(1);
    world.yuba(&["wait", "dev", "--for", "applied", "--revision", &one, "--timeout", "90s"]).ok();
    let body = world.cloud.read("toy_network", "net-dev").unwrap().unwrap();
    assert_eq!(body["description"], "one");
}

#[test]
fn nobody_waits_for_a_run_of_a_stack_that_vanished_before_its_first() {
    let mut world = World::new();
    world.stack("dev", &network("dev", "one"), "suspend: true");
    world.begin();
    world.until("it is known", || world.yuba(&["describe", "dev"]).code == 0);
    let refused = world.yuba(&["reconcile", "dev", "--wait"]).failed_with(3);
    assert!(refused.contains("the manifest suspends the stack"), "{refused}");
    let checked = world.yuba(&["drift", "check", "--all"]);
    assert_eq!(checked.code, 0, "{}", checked.err);
    assert!(checked.err.contains("nothing of the stack was applied yet"), "{}", checked.err);
    fs::remove_file(world.repository.work().join("flux/dev.yaml")).unwrap();
    world.repository.push("Take it away");
    world.until("it has vanished", || world.get("dev")["vanished"] == true);
    let told = world.yuba(&["reconcile", "dev", "--wait"]).ok();
    assert!(told.contains("nothing to reconcile: the stack vanished from the manifests"), "{told}");
    let refused = world.yuba(&["drift", "check", "dev"]).failed_with(3);
    assert!(refused.contains("vanished from the manifests"), "{refused}");
}

#[test]
fn a_dependant_is_planned_when_its_dependency_is_applied_and_reads_its_outputs() {
    let mut world = World::new();
    world.stack("base", &network("base", "one"), "approvePlan: auto\nwriteOutputsToSecret: {name: base-out}");
    let code = "variable \"network_id\" {\n  type = string\n}\n\nresource \"toy_instance\" \"vm\" {\n  name       = \"vm\"\n  image      = \"debian-12\"\n  network_id = var.network_id\n}\n";
    let spec = "approvePlan: auto\ndependsOn: [{name: base}]\nvarsFrom: [{kind: Secret, name: base-out}]";
    world.stack("app", code, spec);
    world.begin();
    world.wait("app", "applied");
    let body = world.cloud.read("toy_instance", "i-vm").unwrap().unwrap();
    assert_eq!(body["network_id"], "net-base");
}

#[test]
fn a_faulty_manifest_is_held_back_and_the_rest_goes_on() {
    let mut world = World::new();
    world.stack("good", &network("good", "one"), "approvePlan: auto");
    world.stack("bad", &network("bad", "one"), "approvePlan: auto\nintervall: 5m");
    world.begin();
    world.wait("good", "applied");
    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-good"]);
    let sources = world.yuba(&["get", "sources"]).ok();
    assert!(sources.contains("flux/bad.yaml:") && sources.contains("error: spec.intervall"), "{sources}");
    world.repository.replace("flux/good.yaml", "interval: 1h", "interval: 1x");
    world.stack("late", &network("late", "one"), "approvePlan: auto");
    world.repository.push("Break the good one");
    world.wait("late", "applied");
    let status = world.get("good")["status"].to_string();
    assert!(status.contains("its last good version stays in force: flux/good.yaml:"), "{status}");
}
