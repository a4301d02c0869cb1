//! The server is killed at any moment; nothing is lost, nothing is applied twice.

use std::time::Duration;

use yuba_end_to_end::World;
use yuba_toy_cloud::Control;

use crate::network;

#[test]
fn an_apply_goes_on_while_the_server_is_dead_and_is_reported_when_it_is_back() {
    let mut world = World::new();
    world.stack("dev", &network("dev", "one"), "approvePlan: auto");
    let hold = r#"{"hold": {"create": ["toy_network.dev"]}}"#;
    world.cloud.set_control(&serde_json::from_str::<Control>(hold).unwrap()).unwrap();
    world.begin();
    world.wait("dev", "applying");
    world.kill();
    world.cloud.set_control(&Control::default()).unwrap();
    world.start();
    world.wait("dev", "applied");
    assert_eq!(world.states("dev"), ["applied"]);
}

/// Kills the server at 30 moments spread over pushes, plans and applies.
#[test]
fn thirty_kills_lose_nothing_and_apply_nothing_twice() {
    let mut world = World::new();
    world.stack("dev", &network("dev", "0"), "approvePlan: auto");
    world.begin();
    for cycle in 1..=30_u64 {
        world.repository.replace(
            "stacks/dev/main.tf",
            &format!("\"{}\"", cycle - 1),
            &format!("\"{cycle}\""),
        );
        world.repository.push("Change");
        std::thread::sleep(Duration::from_millis(cycle * 97 % 1900));
        world.kill();
        world.start();
    }
    let head = world.repository.head();
    world.yuba(&["wait", "dev", "--for", "applied", "--revision", &head, "--timeout", "120s"]).ok();
    let body = world.cloud.read("toy_network", "net-dev").unwrap().unwrap();
    assert_eq!(body["description"], "30");
    let journal = world.cloud.journal().unwrap();
    assert_eq!(yuba_toy_cloud::repeats(&journal), Vec::<String>::new());
    let going = ["queued", "planning", "applying", "awaiting-approval"];
    let left: Vec<String> =
        world.states("dev").into_iter().filter(|state| going.contains(&state.as_str())).collect();
    assert_eq!(left, Vec::<String>::new(), "every run ended");
}
