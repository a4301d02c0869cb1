//! A fan-out that is cut anywhere goes on: each call of each port fails once, before and after its effect.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod kit;

use kit::faults::Cut;
use kit::{World, stack};
use yuba_core::source::{Definition, ManifestSetRecord, Observation};

const FILES: [(&str, &str); 3] =
    [("a/main.tf", "locals {}\n"), ("b/main.tf", "locals {}\n"), ("c/main.tf", "locals {}\n")];

fn three(more: &[&str]) -> String {
    stack("a", "a", more) + &stack("b", "b", more) + &stack("c", "c", &[])
}

/// A step of the world, with the call of this number failing. `false` when there were not that many calls.
async fn cut(world: &World, call: i64, cut: Cut, takes_over: bool) -> bool {
    world.faults.plan(call, cut);
    if takes_over {
        world.take_over().await
    } else {
        world.look().await
    };
    world.faults.happened()
}

#[tokio::test]
async fn a_look_that_is_cut_anywhere_wakes_every_stack_it_must() {
    for mode in [Cut::Before, Cut::After] {
        let mut call = 1;
        loop {
            let world = World::settled(&FILES, &three(&[])).await;
            world.commit(&[("a/main.tf", "locals {\n}\n"), ("b/main.tf", "locals {\n}\n")]);
            let was_cut = cut(&world, call, mode, false).await;
            let woken = world.woken().await;
            assert_eq!(stacks(&woken), ["a", "b"], "call {call} {mode:?}: {woken:?}");
            let head = world.git(&["rev-parse", "HEAD"]);
            let Observation { revision, .. } = world.observation("a").await;
            assert_eq!(revision.commit.as_str(), head.trim(), "call {call} {mode:?}");
            let seen = world.source().await.seen.unwrap();
            assert_eq!(seen.revision, revision, "call {call} {mode:?}");
            if !was_cut {
                break;
            }
            call += 1;
        }
        assert!(call > 10, "only {call} calls were cut");
    }
}

#[tokio::test]
async fn a_snapshot_that_is_cut_anywhere_is_taken_over_whole() {
    for mode in [Cut::Before, Cut::After] {
        let mut call = 1;
        loop {
            let world = World::settled(&FILES, &three(&[])).await;
            world.manifests(
                &(three(&["suspend: true"]).replace("path: c", "path: b") + &stack("d", "c", &[])),
            );
            let was_cut = cut(&world, call, mode, true).await;
            let woken = world.woken().await;
            assert_eq!(stacks(&woken), ["a", "b", "c", "d"], "call {call} {mode:?}: {woken:?}");
            let ManifestSetRecord { taken, snapshot, digest, .. } = world.record().await;
            assert!(taken == snapshot && digest.is_some(), "call {call} {mode:?}");
            let Definition { spec, .. } = world.definition("b").await;
            assert!(spec.suspend, "call {call} {mode:?}");
            assert_eq!(world.source().await.definitions, world.source().await.definitions_seen);
            if !was_cut {
                break;
            }
            call += 1;
        }
        assert!(call > 10, "only {call} calls were cut");
    }
}

/// The stacks that were woken, each once.
fn stacks(woken: &[String]) -> Vec<&str> {
    let mut names: Vec<&str> = woken.iter().filter_map(|woken| woken.split(':').next()).collect();
    names.dedup();
    names
}
