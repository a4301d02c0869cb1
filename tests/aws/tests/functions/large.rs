//! Much at once: a plan that no memory should hold, and a push that concerns hundreds of stacks.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::json;
use yuba_core::job::object;
use yuba_core::message::{Cause, Wake};
use yuba_core::record::Index;
use yuba_core::source::Source;
use yuba_ports::Blobs as _;

use crate::repository::{ONE, TERRAFORM, manifest};
use crate::world::World;

/// Thirty values of 1.8 MB, which a plan in JSON holds twice.
const LARGE: &str = r#"locals {
  block = join("", [for number in range(1000) : sha512("${number}")])
}

resource "terraform_data" "large" {
  count = 30
  input = "${count.index} ${join("", [for number in range(14) : local.block])}"
}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_of_more_than_100_mb_is_planned_stored_and_applied() {
    let world = World::bare().await;
    world.repository.commit(&[("net/large.tf", LARGE)]);
    world.network("interval: 1h\napprovePlan: auto").await;
    world.wait_long("applied", "240s");

    assert_eq!(world.cloud.ids("toy_network").unwrap(), ["net-net"]);
    let names = world.blobs().list("runs/", None, 100).await.unwrap();
    let plan = names.iter().find(|name| name.ends_with(object::PLAN_JSON)).unwrap();
    let size = world.blobs().get(plan).await.unwrap().unwrap().len();
    assert!(size > 100_000_000, "{size} bytes");
}

/// How many stacks there are, and at which of the messages of ten, of at least ninety, the function is killed that sends them:
/// within what is written together, fifty stacks.
const STACKS: usize = 900;
const CUT: usize = 43;

#[tokio::test(flavor = "multi_thread")]
async fn a_fan_out_that_is_cut_in_the_middle_wakes_each_stack() {
    let world = World::bare().await;
    let cut =
        json!({ "to": "SendMessageBatch", "body": "observation", "only": CUT, "kill": "yuba-demo-source" });
    world.control(&json!({ "paused": "stacks.fifo", "answers": [cut] }));
    let commit = world.repository.commit(&[("flux/all.yaml", &many_stacks()), ("net/main.tf", ONE)]);
    let (status, answer) = world.github(("d-1", &commit, &commit)).await;
    assert_eq!(status, 202, "{answer}");

    let seen = async || world.list::<Source>(Index::Sources).await.pop()?.seen.clone();
    let seen = world.until("the source advances", seen).await;
    assert!(seen.revision.to_string().ends_with(&commit) && seen.observation >= 2, "{seen:?}");
    assert!(world.met()[0] > CUT as u64);
    let mut woken = BTreeSet::new();
    for message in world.drain_stacks().await {
        if let (Wake::Stack(stack), Cause::Observation { .. }) = (message.wake, message.cause) {
            assert!(woken.insert(stack), "{stack} was woken twice");
        }
    }
    assert_eq!(woken.len(), STACKS);
}

fn many_stacks() -> String {
    let mut others = String::new();
    for number in 1..STACKS {
        let other =
            manifest(TERRAFORM, "interval: 1h", "").replace("name: net,", &format!("name: net-{number},"));
        write!(others, "---\n{}", other.split_once("---\n").unwrap().1).unwrap();
    }
    manifest(TERRAFORM, "interval: 1h", &others)
}
