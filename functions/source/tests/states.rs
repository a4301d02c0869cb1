//! Backends that code names: renamed stacks, and two stacks with one state. Real Git, a world in memory.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod kit;

use kit::{World, stack, stack_name};
use yuba_core::id::StackId;
use yuba_core::record::{Edge, Key};
use yuba_core::stack::Stack;
use yuba_core::state_address::{StateAddress, known_address};
use yuba_ports::records::put_any;
use yuba_ports::{Clock, Store};

/// Code that names where its state lies.
fn code(key: &str) -> String {
    format!("terraform {{\n  backend \"s3\" {{\n    bucket = \"b\"\n    key    = \"{key}\"\n  }}\n}}\n")
}

async fn one() -> World {
    World::settled(&[("dev/main.tf", &code("dev"))], &stack("dev", "dev", &[])).await
}

async fn address(world: &World, name: &str) -> StateAddress {
    let seen = world.observation(name).await;
    known_address(&world.definition(name).await.spec, Some(&seen))
}

/// Whether a stack lies beside others that name this state.
async fn names(world: &World, stack: StackId, address: &StateAddress) -> bool {
    world.load::<Edge>(&Key::state(address.digest().unwrap(), stack)).await.is_some()
}

#[tokio::test]
async fn what_the_code_names_is_observed_and_followed() {
    let world = one().await;
    let (id, first) = (world.id("dev").await.unwrap(), address(&world, "dev").await);
    assert_eq!(first.place(), Some("s3 bucket=b key=dev, workspace default"));
    assert!(names(&world, id, &first).await);
    world.commit(&[("dev/main.tf", &code("moved"))]);
    world.look().await;
    let second = address(&world, "dev").await;
    assert_eq!(second.place(), Some("s3 bucket=b key=moved, workspace default"));
    assert_eq!((names(&world, id, &first).await, names(&world, id, &second).await), (false, true));
    world.manifests(&stack("dev", "dev", &["workspace: eu"]));
    world.take_over().await;
    let third = address(&world, "dev").await;
    assert_eq!((names(&world, id, &second).await, names(&world, id, &third).await), (false, true));
}

#[tokio::test]
async fn a_new_name_for_the_same_code_keeps_the_stack() {
    let world = one().await;
    let id = world.id("dev").await;
    world.manifests(&stack("renamed", "dev", &[]));
    world.take_over().await;
    assert_eq!((world.id("renamed").await, world.id("dev").await), (id, None));
    let definition = world.definition("renamed").await;
    assert_eq!((definition.name, definition.vanished), (stack_name("renamed"), None));
}

#[tokio::test]
async fn a_new_name_in_a_new_directory_keeps_the_stack_whichever_is_seen_first() {
    for looks_first in [false, true] {
        let world = one().await;
        let id = world.id("dev").await;
        world.git(&["mv", "dev", "moved"]);
        world.commit(&[]);
        if looks_first {
            world.look().await;
            assert_eq!(world.observation("dev").await.problems.len(), 1);
        }
        world.manifests(&stack("renamed", "moved", &[]));
        world.take_over().await;
        assert_eq!((world.id("renamed").await, world.id("dev").await), (id, None));
        assert_eq!(world.observation("renamed").await.path.as_deref(), Some("moved"));
    }
}

#[tokio::test]
async fn another_state_is_another_stack_and_so_is_one_that_nobody_names() {
    for (path, text) in [("other/main.tf", code("other")), ("other/main.tf", "locals {}\n".to_owned())] {
        let world = one().await;
        let id = world.id("dev").await;
        world.commit(&[(path, &text)]);
        world.manifests(&stack("other", "other", &[]));
        world.take_over().await;
        assert_ne!(world.id("other").await, id);
        assert!(world.definition("dev").await.vanished.is_some());
    }
}

/// A stack whose state the installation keeps, with what its record says of it.
async fn kept(change: fn(&mut Stack)) -> (World, StackId) {
    let files = [("dev/main.tf", "locals {}\n")];
    let world = Box::pin(World::settled(&files, &stack("dev", "dev", &[]))).await;
    let id = world.id("dev").await.unwrap();
    let mut record = Stack::new(id, stack_name("dev"), world.memory.clock.now());
    change(&mut record);
    world.memory.store.commit(vec![put_any(&record).unwrap()]).await.unwrap();
    (world, id)
}

#[tokio::test]
async fn a_new_name_for_a_stack_that_would_be_planned_the_same_keeps_it() {
    let (world, id) = kept(|stack| stack.holds_resources = true).await;
    world.manifests(&stack("renamed", "dev", &["approvePlan: auto"]));
    world.take_over().await;
    assert_eq!((world.id("renamed").await, world.id("dev").await), (Some(id), None));
}

#[tokio::test]
async fn a_new_name_with_other_settings_remembers_whose_state_may_be_meant() {
    let (world, id) = kept(|stack| stack.holds_resources = true).await;
    let renamed = |more: &[&str]| stack("renamed", "dev", &[&["vars: [{name: a, value: b}]"], more].concat());
    world.manifests(&renamed(&[]));
    world.take_over().await;
    let definition = world.definition("renamed").await;
    assert_eq!((definition.stack == id, definition.may_be), (false, vec![id]));
    world.manifests(&(renamed(&["approvePlan: auto"]) + &stack("elsewhere", "other", &[])));
    world.take_over().await;
    assert_eq!(world.definition("renamed").await.may_be, [id]);
    assert!(world.definition("elsewhere").await.may_be.is_empty());
}

#[tokio::test]
async fn a_stack_that_holds_nothing_is_not_gone_on_with() {
    let (world, id) = kept(|_| {}).await;
    world.manifests(&stack("renamed", "dev", &[]));
    world.take_over().await;
    assert_ne!(world.id("renamed").await, Some(id));
}

#[tokio::test]
async fn a_new_name_is_held_back_while_its_code_cannot_be_read() {
    let world = one().await;
    let id = world.id("dev").await;
    world.git(&["checkout", "--quiet", "-b", "other"]);
    world.git(&["branch", "--quiet", "-D", "main"]);
    world.manifests(&stack("renamed", "dev", &[]));
    world.take_over().await;
    assert_eq!(world.id("renamed").await, None);
    let findings = world.record().await.findings.join("\n");
    assert!(findings.contains("may be a stack that vanished, under a new name"), "{findings}");
    world.git(&["branch", "main"]);
    world.take_over().await;
    assert_eq!(world.id("renamed").await, id);
}

#[tokio::test]
async fn a_stack_is_woken_when_another_comes_to_name_its_state_and_when_that_vanishes() {
    let world = one().await;
    world.commit(&[("twin/main.tf", &code("dev"))]);
    world.manifests(&(stack("dev", "dev", &[]) + &stack("twin", "twin", &[])));
    world.take_over().await;
    assert_eq!(world.woken().await, ["dev: same state", "twin: observation 2", "twin: snapshot 2"]);
    let shared = address(&world, "dev").await;
    assert!(names(&world, world.id("twin").await.unwrap(), &shared).await);
    world.manifests(&stack("dev", "dev", &[]));
    world.take_over().await;
    assert_eq!(world.woken().await, ["dev: same state", "twin: snapshot 3"]);
    assert!(!names(&world, world.id("twin").await.unwrap(), &shared).await);
}
