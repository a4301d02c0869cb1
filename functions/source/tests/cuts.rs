//! A fan-out that is cut anywhere goes on: each call of each port fails once, before and after its effect.
#![expect(clippy::unwrap_used, reason = "a test's helper fails the test")]

mod kit;

use std::sync::Arc;

use kit::faults::Cut;
use kit::{World, stack};
use yuba_core::id::ClosureDigest;
use yuba_core::record::Key;
use yuba_core::source::{ManifestSetRecord, Observation};
use yuba_ports::records::put_any;
use yuba_ports::{Expected, Store, Write};

const FILES: [(&str, &str); 3] =
    [("a/main.tf", "locals {}\n"), ("b/main.tf", "locals {}\n"), ("c/main.tf", "locals {}\n")];

fn three(more: &[&str]) -> String {
    stack("a", "a", more) + &stack("b", "b", more) + &stack("c", "c", &[])
}

/// Two of three stacks changed, and the look at them was cut. `false` when there were not that many calls.
async fn a_cut_look(call: i64, cut: Cut) -> bool {
    let world = World::settled(&FILES, &three(&[])).await;
    world.commit(&[("a/main.tf", "locals {\n}\n"), ("b/main.tf", "locals {\n}\n")]);
    world.faults.plan(call, cut);
    world.look().await;
    let was_cut = world.faults.happened();
    let woken = world.woken().await;
    assert_eq!(stacks(&woken), ["a", "b"], "call {call} {cut:?}: {woken:?}");
    let head = world.git(&["rev-parse", "HEAD"]);
    let revision = world.observation("a").await.revision;
    assert_eq!(revision.commit.as_str(), head.trim(), "call {call} {cut:?}");
    assert_eq!(world.source().await.seen.unwrap().revision, revision, "call {call} {cut:?}");
    was_cut
}

/// A stack changed, and while a look at it was under way that was taken back, and another look was made. `false` when there
/// were not that many calls.
async fn an_overtaken_look(call: i64) -> bool {
    let world = Arc::new(World::settled(&FILES, &three(&[])).await);
    let before = world.observation("a").await.closure;
    world.commit(&[("a/main.tf", "locals {\n}\n")]);
    let other = world.clone();
    world.faults.meanwhile(call, async move {
        other.commit(&FILES);
        other.look_beside().await;
    });
    world.look().await;
    let was_overtaken = world.faults.happened();
    if was_overtaken {
        assert_eq!(world.observation("a").await.closure, before, "call {call}");
    }
    was_overtaken
}

/// A stack was taken out of the manifests, taking that over was cut, and it came back as it was. `false` when there were not
/// that many calls.
async fn a_cut_vanishing(call: i64, cut: Cut) -> bool {
    let world = World::settled(&FILES, &three(&[])).await;
    world.manifests(&(stack("a", "a", &[]) + &stack("b", "b", &[])));
    world.faults.plan(call, cut);
    world.try_to_take_over().await;
    let was_cut = world.faults.happened();
    world.manifests(&three(&[]));
    world.take_over().await;
    world.woken().await;
    world.commit(&[("c/main.tf", "locals {\n}\n")]);
    world.look().await;
    assert_eq!(stacks(&world.woken().await), ["c"], "call {call} {cut:?}");
    was_cut
}

/// Every stack changed, one is new, and taking that over was cut.
async fn a_cut_snapshot(call: i64, cut: Cut) -> bool {
    let world = World::settled(&FILES, &three(&[])).await;
    world.manifests(&(three(&["suspend: true"]).replace("path: c", "path: b") + &stack("d", "c", &[])));
    world.faults.plan(call, cut);
    world.take_over().await;
    let was_cut = world.faults.happened();
    let woken = world.woken().await;
    assert_eq!(stacks(&woken), ["a", "b", "c", "d"], "call {call} {cut:?}: {woken:?}");
    let ManifestSetRecord { taken, snapshot, digest, .. } = world.record().await;
    assert!(taken == snapshot && digest.is_some(), "call {call} {cut:?}");
    assert!(world.definition("b").await.spec.suspend, "call {call} {cut:?}");
    assert_eq!(
        world.source().await.definitions,
        world.source().await.definitions_seen,
        "call {call} {cut:?}"
    );
    was_cut
}

#[tokio::test]
async fn a_stack_that_comes_back_after_its_vanishing_was_cut_is_looked_for() {
    for cut in [Cut::Before, Cut::After] {
        let mut call = 1;
        while a_cut_vanishing(call, cut).await {
            call += 1;
        }
        assert!(call > 10, "{call} {cut:?}");
    }
}

#[tokio::test]
async fn a_look_that_was_overtaken_anywhere_writes_nothing_older() {
    let mut call = 1;
    while an_overtaken_look(call).await {
        call += 1;
    }
    assert!(call > 10, "{call}");
}

#[tokio::test]
async fn a_look_that_is_cut_anywhere_wakes_every_stack_it_must() {
    for cut in [Cut::Before, Cut::After] {
        let mut call = 1;
        while Box::pin(a_cut_look(call, cut)).await {
            call += 1;
        }
        assert!(call > 10, "only {call} calls were cut");
    }
}

#[tokio::test]
async fn a_snapshot_that_is_cut_anywhere_is_taken_over_whole() {
    for cut in [Cut::Before, Cut::After] {
        let mut call = 1;
        while Box::pin(a_cut_snapshot(call, cut)).await {
            call += 1;
        }
        assert!(call > 10, "only {call} calls were cut");
    }
}

#[tokio::test]
async fn a_branch_that_is_forced_back_after_a_cut_look_is_looked_at_again() {
    let world = World::settled(&FILES, &three(&[])).await;
    let (mut source, before) = (world.source().await, world.observation("a").await);
    source.observation += 1;
    let closure = ClosureDigest::of(b"what the cut look found");
    let cut = Observation { number: source.observation, closure, ..before.clone() };
    let writes = vec![put_any(&source).unwrap(), put_any(&cut).unwrap()];
    world.memory.store.commit(writes).await.unwrap();
    world.look().await;
    assert_eq!(world.observation("a").await.closure, before.closure);
}

#[tokio::test]
async fn a_stack_that_changes_after_a_cut_snapshot_made_it_is_looked_for() {
    let world = World::settled(&FILES, &three(&[])).await;
    world.manifests(&(three(&[]) + &stack("d", "c", &[])));
    world.take_over().await;
    let observation = Key::observation(world.id("d").await.unwrap());
    let mut record = world.record().await;
    record.taken -= 1;
    let forget = Write::Delete { key: observation, expected: Expected::Any };
    world.memory.store.commit(vec![put_any(&record).unwrap(), forget]).await.unwrap();
    world.woken().await;
    world.manifests(&(three(&[]) + &stack("d", "c", &["suspend: true"])));
    world.take_over().await;
    assert_eq!(stacks(&world.woken().await), ["d"]);
    assert_eq!(world.observation("d").await.closure, world.observation("c").await.closure);
}

/// The stacks that were woken, each once.
fn stacks(woken: &[String]) -> Vec<&str> {
    let mut names: Vec<&str> = woken.iter().filter_map(|woken| woken.split(':').next()).collect();
    names.dedup();
    names
}
