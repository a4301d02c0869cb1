//! What is wrong is named, and nothing else is held up by it.

use std::os::unix::fs::symlink;

use yuba_end_to_end::{StateBackend, World};

use crate::network;

const AWAY: &str = "backendConfig:\n  customConfiguration: |\n    backend \"http\" {\n      address   = \"http://127.0.0.1:1/state\"\n      retry_max = 0\n    }\n";

#[test]
fn each_wrong_stack_fails_with_what_is_wrong_and_the_right_one_is_applied() {
    let mut world = World::new();
    let denied = StateBackend::start();
    denied.deny_everybody();
    let auto = |more: &str| format!("approvePlan: auto\n{more}");
    world.stack("fine", &network("fine", "one"), &auto(""));
    world.stack("away", &network("away", "one"), &auto(AWAY));
    world.stack("denied", &network("denied", "one"), &auto(&denied.spec()));
    world.stack("engine", &network("engine", "one"), &auto("engine: {version: \"= 99.0.0\"}"));
    let flux = "apiVersion: infra.contrib.fluxcd.io/v1alpha2\nkind: Terraform";
    world.repository.replace("flux/engine.yaml", flux, "apiVersion: yuba.dev/v1\nkind: Stack");
    let missing = "data \"toy_network\" \"none\" {\n  name = \"none\"\n}\n";
    world.stack("half", &format!("{}{missing}", network("half", "one")), &auto(""));
    world.stack("module", "module \"x\" {\n  source = \"../../modules/none\"\n}\n", &auto(""));
    world.stack("loop", &network("loop", "one"), &auto(""));
    symlink("self", world.repository.work().join("stacks/loop/self")).unwrap();
    world.stack("round", &network("round", "one"), &auto(""));
    symlink(".", world.repository.work().join("stacks/round/again")).unwrap();
    world.begin();
    for (stack, what) in [
        ("away", "connect: connection refused"),
        ("denied", "HTTP remote state endpoint requires auth"),
        ("engine", "no engine fits: tofu or terraform = 99.0.0 is asked for, the PATH holds "),
        ("half", "data.toy_network.none does not exist"),
        ("module", "modules/none: the module does not exist; it is called from stacks/module/main.tf"),
        ("loop", "stacks/loop/self: the link leads in a circle (to `self`)"),
    ] {
        world.wait(stack, "failed");
        let status = world.get(stack)["status"].to_string();
        assert!(status.contains(what), "{stack}: {status}");
    }
    world.wait("fine", "applied");
    world.wait("round", "applied");
    world.until("what time can mend is tried again", || world.states("away").len() > 1);
    assert_eq!(world.states("denied"), ["failed"], "what only new rights mend is not");
}

#[test]
fn manifests_that_cannot_be_meant_are_named_and_the_rest_is_taken_over() {
    let mut world = World::new();
    world.stack("fine", &network("fine", "one"), "approvePlan: auto");
    world.stack("zero", &network("zero", "one"), "");
    world.repository.replace("flux/zero.yaml", "interval: 1h", "interval: 0s");
    world.stack("twice", &network("twice", "one"), "");
    let twice = std::fs::read_to_string(world.repository.work().join("flux/twice.yaml")).unwrap();
    world.repository.write("flux/twice-again.yaml", &twice);
    world.begin();
    world.wait("fine", "applied");
    let stacks = world.yuba(&["get", "stacks"]).ok();
    assert!(!stacks.contains("zero") && !stacks.contains("twice"), "{stacks}");
    let log = world.server().log();
    for what in ["spec.interval: found `0s`, allowed is a duration above zero", "flux/twice-again.yaml:"] {
        assert!(log.contains(what), "{log}");
    }
}

#[test]
fn one_error_of_ten_stacks_is_tried_again_by_one_of_them_alone() {
    let mut world = World::new();
    let names: Vec<String> = (0..11).map(|number| format!("s{number}")).collect();
    for name in &names {
        world.stack(name, &network(name, "one"), &AWAY.replace("/state", &format!("/{name}")));
    }
    world.begin();
    let has_failed = |name: &String| world.states(name).first().is_some_and(|state| state == "failed");
    world.until("all have failed", || names.iter().all(has_failed));
    world.until("one gives notice for all", || notices(&world) > 0);
    let runs = |world: &World| names.iter().map(|name| world.states(name).len()).collect::<Vec<_>>();
    let before = runs(&world);
    world.until("one goes on trying", || runs(&world).iter().zip(&before).any(|(now, then)| *now > then + 1));
    let tried = runs(&world).iter().zip(&before).filter(|(now, then)| now > then).count();
    assert_eq!(tried, 1, "the others wait behind it");
    assert_eq!(notices(&world), 1, "whoever takes its place does not give notice again");
}

fn notices(world: &World) -> usize {
    world.yuba(&["get", "events"]).ok().matches("stacks fail of the same error").count()
}
