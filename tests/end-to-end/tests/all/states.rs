//! Backends that code names: a stack that is renamed, and two that have one state.

use yuba_end_to_end::World;

use crate::network;

/// Code whose state lies in a file of the test's own.
fn code(world: &World, name: &str) -> String {
    // Outside of what Yuba lends to the users of attempts.
    let path = world.dir().join("states").join("network.tfstate");
    format!(
        "terraform {{\n  backend \"local\" {{\n    path = \"{}\"\n  }}\n}}\n\n{}",
        path.display(),
        network(name, "one")
    )
}

fn described(world: &World, stack: &str) -> serde_json::Value {
    serde_json::from_str(&world.yuba(&["describe", stack, "-o", "json"]).ok()).unwrap()
}

#[test]
fn a_stack_that_is_renamed_keeps_its_id_and_its_state() {
    let mut world = World::new();
    world.isolate_nothing();
    world.stack("dev", &code(&world, "dev"), "approvePlan: auto");
    world.begin();
    world.wait("dev", "applied");
    let dev = described(&world, "dev");
    let journal = world.cloud.journal().unwrap().len();
    std::fs::remove_file(world.repository.work().join("flux/dev.yaml")).unwrap();
    std::fs::remove_dir_all(world.repository.work().join("stacks/dev")).unwrap();
    world.stack("renamed", &code(&world, "dev"), "approvePlan: auto");
    let head = world.repository.push("Rename");
    world.yuba(&["wait", "renamed", "--for", "unchanged", "--revision", &head, "--timeout", "90s"]).ok();
    let renamed = described(&world, "renamed");
    assert_eq!(
        (&renamed["id"], &renamed["stack"]["status"]),
        (&dev["id"], &format!("Plan no changes: main@sha1:{head}").into())
    );
    let listed = world.yuba(&["get", "stacks", "-o", "json"]).ok();
    assert!(!listed.contains("\"name\": \"dev\""), "{listed}");
    assert_eq!(world.cloud.journal().unwrap().len(), journal, "nothing was made, changed or removed");
    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-dev"]);
}

#[test]
fn two_stacks_with_one_state_are_held_back_until_one_is_gone() {
    let mut world = World::new();
    world.isolate_nothing();
    world.stack("one", &code(&world, "one"), "approvePlan: auto");
    world.stack("two", &code(&world, "two"), "approvePlan: auto");
    world.begin();
    world.wait("one", "awaiting-approval");
    world.wait("two", "awaiting-approval");
    let (one, two) = (world.get("one"), world.get("two"));
    assert_eq!((&one["ready"], &two["ready"]), (&"False".into(), &"False".into()));
    let status = one["status"].to_string();
    assert!(status.contains("infra/two (flux/two.yaml:1) names local path="), "{status}");
    assert!(world.yuba(&["get", "events"]).ok().contains("state.shared"));
    assert!(world.cloud.ids("toy_network").unwrap().is_empty(), "nothing was applied");
    std::fs::remove_file(world.repository.work().join("flux/two.yaml")).unwrap();
    world.repository.push("Take the second away");
    world.wait("one", "applied");
    let refused = world.yuba(&["destroy", "two"]);
    assert!(refused.failed_with(3).contains("infra/one (flux/one.yaml:1) names the same state"));
}

#[test]
fn a_state_that_the_code_puts_beside_itself_outlives_the_run() {
    let mut world = World::new();
    let backend = "terraform {\n  backend \"local\" {\n    path = \"network.tfstate\"\n  }\n}\n\n";
    let code = format!("{backend}{}", network("dev", "one"));
    world.stack("dev", &code, "approvePlan: auto");
    world.begin();
    world.wait("dev", "applied");
    world.stack("dev", &format!("{code}# The end\n"), "approvePlan: auto");
    let head = world.repository.push("Change nothing");
    world.yuba(&["wait", "dev", "--for", "unchanged", "--revision", &head, "--timeout", "90s"]).ok();
    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-dev"]);
}

/// Takes a stack's manifest away and puts another for the same code there, with these further lines of its spec.
fn rename(world: &World, old: &str, new: &str, more: &str) -> String {
    let work = world.repository.work();
    let manifest = std::fs::read_to_string(work.join(format!("flux/{old}.yaml"))).unwrap();
    std::fs::remove_file(work.join(format!("flux/{old}.yaml"))).unwrap();
    let renamed = manifest.replace(&format!("name: {old}"), &format!("name: {new}"));
    world.repository.write(&format!("flux/{new}.yaml"), &format!("{renamed}{more}"));
    world.repository.push("Rename")
}

#[test]
fn a_stack_whose_state_yuba_keeps_is_renamed_or_asks_whose_state_is_meant() {
    let mut world = World::new();
    world.stack("dev", &network("dev", "one"), "approvePlan: auto");
    world.begin();
    world.wait("dev", "applied");
    let dev = described(&world, "dev");
    let journal = world.cloud.journal().unwrap().len();
    rename(&world, "dev", "same", "");
    world.until("it has its new name", || world.yuba(&["get", "stacks"]).ok().contains("same"));
    assert_eq!(described(&world, "same")["id"], dev["id"], "what is planned the same is the same stack");
    rename(&world, "same", "other", "  writeOutputsToSecret: {name: out}\n");
    world.wait("other", "awaiting-adoption");
    let status = world.get("other")["status"].to_string();
    assert!(status.contains("`yuba adopt infra/other --from infra/same`"), "{status}");
    world.yuba(&["adopt", "other", "--from", "same"]).ok();
    world.until("it is planned with that state", || {
        ["applied", "unchanged"].contains(&world.states("other").last().unwrap().as_str())
    });
    assert_ne!(described(&world, "other")["id"], dev["id"]);
    assert!(world.yuba(&["destroy", "same"]).failed_with(3).contains("handed over to infra/other"));
    assert_eq!(world.cloud.journal().unwrap().len(), journal, "nothing was made, changed or removed");
    world.repository.replace("stacks/dev/main.tf", "\"one\"", "\"two\"");
    let head = world.repository.push("Change");
    world.yuba(&["wait", "other", "--for", "applied", "--revision", &head, "--timeout", "90s"]).ok();
    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-dev"]);
}
