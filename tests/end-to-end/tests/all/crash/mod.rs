//! The server, its disk and its tasks are struck at any moment; nothing is lost, nothing is applied twice.

mod oracle;
mod records;
mod scene;
mod storm;

use yuba_core::attempt::AttemptState;
use yuba_core::run::{Failure, FailureClass, RunState};
use yuba_end_to_end::World;
use yuba_toy_cloud::Control;

use crate::network;
use records::Records;
use scene::Scene;
use storm::Storm;

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

/// `make crash-long` is this test with more cycles.
#[test]
fn whatever_strikes_nothing_is_lost_and_nothing_is_applied_twice() {
    let storm = Storm::from_environment();
    println!("{storm}");
    let mut scene = Scene::new();
    for cycle in storm.cycles() {
        println!("{cycle}");
        scene.pass(cycle);
        assert_eq!(scene.wrong(), [""; 0], "{storm}");
    }
    scene.calm(storm.cycles + 1);
    assert_eq!(scene.wrong(), [""; 0], "{storm}");
    println!("{scene}");
}

/// Each oracle finds what it is there for, in the records of a stack that was applied.
#[test]
fn each_oracle_speaks() {
    let mut scene = Scene::new();
    scene.calm(1);
    assert_eq!(scene.wrong(), [""; 0]);
    let (good, accepted) = scene.records();
    let all = |bad: &Records| {
        let mut wrong = oracle::at_any_moment(&good, bad);
        wrong.extend(oracle::of_tasks(bad, &[*good.attempts.keys().next().unwrap()]));
        wrong.extend(oracle::when_calm(bad, &accepted));
        wrong.extend(oracle::unknown_locks(bad, &["another".to_owned()]));
        wrong
    };
    assert_eq!(all(&good), [""; 0]);
    for (spoil, says) in SPOILERS {
        let mut bad = good.clone();
        spoil(&mut bad);
        let wrong = all(&bad);
        assert!(wrong.iter().any(|what| what.contains(says)), "{says}: {wrong:?}");
    }
}

type Spoil = fn(&mut Records);

/// What is done to good records, and what an oracle says of them then.
const SPOILERS: [(Spoil, &str); 14] = [
    (
        |records| records.attempts.values_mut().for_each(|it| it.state = AttemptState::Claimed),
        "are out at once",
    ),
    (|records| records.stacks.values_mut().for_each(|it| it.run = it.latest), "and these go on"),
    (|records| records.stacks.values_mut().for_each(|it| it.events -= 1), "has event"),
    (
        |records| records.attempts.values_mut().for_each(|it| it.state = AttemptState::Closed),
        "its task lives",
    ),
    (|records| records.runs.values_mut().for_each(|it| it.number += 1), "had ended, and was changed"),
    (|records| records.attempts.values_mut().for_each(|it| it.report = None), "had ended, and was changed"),
    (|records| records.events.values_mut().for_each(|it| it.message.clear()), "was changed"),
    (|records| records.runs.values_mut().for_each(|it| it.state = RunState::Applying), "is still applying"),
    (|records| records.runs.values_mut().for_each(|it| it.ended_at = None), "and goes on"),
    (|records| records.runs.values_mut().for_each(|it| it.state = RunState::Failed), "nothing says why"),
    (|records| records.events.retain(|_, it| it.run.is_none()), "nothing says why"),
    (|records| records.events.retain(|(_, number), _| *number != 1), "was never published"),
    (
        |records| records.deliveries.values_mut().for_each(|it| it.outcome = None),
        "nothing became of delivery",
    ),
    (|records| records.runs.values_mut().for_each(|it| it.failure = Some(locked())), "names no lock"),
];

fn locked() -> Failure {
    let (class, message, detail) = (FailureClass::Locked, String::new(), String::new());
    Failure { class, message, detail, lock: None, errored_state: false }
}
