//! A new name that may be a vanished stack's whose state the installation keeps.

use ulid::Ulid;

use super::world::World;
use crate::decide::Former;
use crate::id::{StackId, StackName};
use crate::message::Cause;
use crate::request::{Adoption, Ask};
use crate::spec::{ApprovePlan, StackSpec};
use crate::time::Span;

fn auto(spec: &mut StackSpec) {
    spec.approve_plan = ApprovePlan::Auto;
    spec.state_is_new = true;
}

/// A stack that was applied and then vanished, as another sees it.
fn gone() -> Former {
    let mut world = World::applied(|_| {});
    let (id, name) = (StackId(Ulid::from_parts(1, 9)), StackName::new("infra", "old"));
    world.vanishes();
    (world.stack.id, world.stack.name, world.stack.holds_resources) = (id, name.clone(), true);
    (world.definition.stack, world.definition.name) = (id, name);
    world.stack.outbox.clear();
    Former { stack: world.stack, definition: world.definition, is_kept: true }
}

/// A stack that may be that one under a new name, at its first plan.
fn perhaps_renamed() -> World {
    let mut world = World::new(auto);
    let former = gone();
    world.definition.may_be = vec![former.stack.id];
    world.former = Some(former);
    world.push("a");
    plans_everything(&mut world);
    world
}

fn plans_everything(world: &mut World) {
    world.planned_as("everything", |report| {
        report.backend_named = false;
        report.state_was_empty = true;
    });
}

fn takes_over(world: &mut World) -> String {
    let id = world.former.as_ref().unwrap().stack.id;
    world.ask(Ask::Adopt(Adoption::From(id)))
}

#[test]
fn it_waits_although_its_manifest_says_that_it_is_new() {
    let mut world = perhaps_renamed();
    assert_eq!(world.states(), "awaiting-adoption");
    insta::assert_snapshot!(world.shown(), @"Unknown: First plan waits: it may be infra/old under a new name, which vanished from the manifests and left a state here; say `yuba adopt infra/network --from infra/old`, or `--new` if it is another stack");
    world.push("b");
    plans_everything(&mut world);
    assert_eq!(world.states(), "superseded awaiting-adoption");
    world.ask(Ask::Adopt(Adoption::New));
    assert_eq!((world.states().as_str(), world.out().job.state_kept_as), ("superseded applying", None));
}

#[test]
fn it_goes_on_under_the_state_of_the_other_which_gets_its_empty_one() {
    let mut world = perhaps_renamed();
    let (mine, theirs) = (world.stack.id, world.former.as_ref().unwrap().stack.id);
    insta::assert_snapshot!(takes_over(&mut world), @"adopted: the stack goes on under the state of infra/old, and is planned again with it");
    assert_eq!((world.states().as_str(), world.out().job.state_kept_as), ("planning", Some(theirs)));
    let old = world.former.clone().unwrap().stack;
    assert_eq!((old.state_id(), old.may_hold(), old.applied.is_some()), (mine, false, false));
    insta::assert_snapshot!(old.shown.status, @"Vanished from the manifests at 2026-11-30T00:53:20Z; its state was handed over to infra/network");
    world.planned("");
    assert_eq!(world.states(), "unchanged", "what the other made is gone on with");
}

#[test]
fn a_stack_whose_state_was_handed_over_is_not_destroyed_and_asks_when_it_comes_back() {
    let mut world = perhaps_renamed();
    takes_over(&mut world);
    let Former { stack, definition, .. } = world.former.take().unwrap();
    let mut new = gone();
    (new.stack.id, new.definition.name) = (world.stack.id, world.stack.name.clone());
    new.stack.state_kept_as = world.stack.state_kept_as;
    let mut old = World::new(auto);
    (old.stack, old.definition) = (stack, definition);
    old.stack.audit = None; // The entries that it names are the other world's.
    let (set, snapshot) = (old.definition.set.clone(), 9);
    old.wake(Cause::Definition { set, snapshot });
    assert!(old.shown().ends_with("; its state was handed over to infra/network"), "{}", old.shown());
    insta::assert_snapshot!(old.ask(Ask::Destroy), @"refused: its state was handed over to infra/network: nothing is left here to destroy; `yuba destroy infra/network` destroys what it held");
    old.definition.vanished = None;
    old.definition.spec.state_is_new = true;
    old.former = Some(new);
    old.push("c");
    plans_everything(&mut old);
    assert!(old.shown().contains("`yuba adopt infra/old --from infra/network`"), "{}", old.shown());
    takes_over(&mut old);
    assert_eq!((old.stack.state_kept_as, old.stack.handed_to), (None, None));
}

#[test]
fn it_begins_anew_once_the_other_is_back_or_destroyed() {
    let mut world = perhaps_renamed();
    world.former.as_mut().unwrap().definition.vanished = None;
    world.passes(Span::minutes(6));
    assert_eq!(world.states(), "applying");
    let mut world = perhaps_renamed();
    let other = &mut world.former.as_mut().unwrap().stack;
    (other.holds_resources, other.applied) = (false, None);
    world.passes(Span::minutes(6));
    assert_eq!(world.states(), "applying");
}

#[test]
fn only_a_state_that_lies_idle_here_is_handed_over() {
    let refused = |change: fn(&mut Former)| {
        let mut world = perhaps_renamed();
        change(world.former.as_mut().unwrap());
        takes_over(&mut world)
    };
    insta::assert_snapshot!(refused(|former| former.is_kept = false), @"refused: infra/old names a backend: name the same one, and its state is found there");
    insta::assert_snapshot!(refused(|former| former.definition.vanished = None), @"refused: infra/old is in the manifests (flux/network.yaml:1), so its state is its own");
    insta::assert_snapshot!(refused(|former| former.definition.spec.workspace = "eu".to_owned()), @"refused: the state of infra/old is that of workspace eu, and default is used here");
    insta::assert_snapshot!(refused(|former| former.stack.run = former.stack.latest), @"refused: a run of infra/old is under way: wait for it, or say `yuba cancel infra/old`");
    insta::assert_snapshot!(
        refused(|former| (former.stack.holds_resources, former.stack.applied) = (false, None)),
        @"refused: the state of infra/old is empty: say --new"
    );
    insta::assert_snapshot!(World::new(auto).ask(Ask::Adopt(Adoption::New)), @"refused: the stack does not wait for adoption: ");
}
