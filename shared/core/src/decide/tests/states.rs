//! Two stacks with one state.

use super::world::World;
use crate::effect::Effect;
use crate::event::EventKind;
use crate::id::StackName;
use crate::message::Cause;
use crate::request::Ask;
use crate::run::RunState;
use crate::spec::{ApprovePlan, StackSpec};
use crate::state_address::{SameState, StateAddress};
use crate::time::Span;

fn auto(spec: &mut StackSpec) {
    spec.approve_plan = ApprovePlan::Auto;
}

fn other(address: StateAddress) -> SameState {
    SameState { name: StackName::new("infra", "twin"), place: "flux/twin.yaml:1".to_owned(), address }
}

fn certain() -> SameState {
    other(StateAddress::At("s3 bucket=b key=k, workspace default".to_owned()))
}

fn notices(world: &mut World) {
    let (stack, at) = (world.stack.id, world.now);
    world.wake(Cause::SameState { stack, at });
}

fn events(world: &World) -> Vec<EventKind> {
    let published = world.stack.outbox.iter().filter_map(|pending| match &pending.effect {
        Effect::Publish { event } => Some(event.kind),
        _ => None,
    });
    published.filter(|kind| [EventKind::StateShared, EventKind::StateFreed].contains(kind)).collect()
}

#[test]
fn a_plan_is_held_back_while_another_stack_names_the_state_and_goes_on_when_none_does() {
    let mut world = World::new(auto);
    world.same_state = Some(certain());
    world.push("a");
    world.planned("first");
    assert_eq!(world.run().state, RunState::AwaitingApproval);
    insta::assert_snapshot!(world.shown(), @"False: Two stacks with one state: infra/twin (flux/twin.yaml:1) names s3 bucket=b key=k, workspace default too; neither is applied");
    world.same_state = None;
    world.passes(Span::minutes(5));
    assert_eq!(world.run().state, RunState::Applying);
    assert_eq!(events(&world), [EventKind::StateShared, EventKind::StateFreed]);
}

#[test]
fn an_approval_counts_when_the_state_is_the_stacks_own_again() {
    let mut world = World::new(|_| {});
    world.same_state = Some(certain());
    world.push("a");
    world.planned("first");
    insta::assert_snapshot!(
        world.ask(Ask::Approve { plan: None, digest: None }),
        @"plan-main-aaaaaaaaaa is approved; it is applied when no other stack names its state"
    );
    assert_eq!(world.run().state, RunState::AwaitingApproval);
    world.same_state = None;
    notices(&mut world);
    assert_eq!(world.run().state, RunState::Applying);
}

#[test]
fn a_stack_at_rest_shows_that_another_came_to_name_its_state() {
    let mut world = World::applied(auto);
    world.same_state = Some(certain());
    notices(&mut world);
    notices(&mut world);
    assert!(world.shown().starts_with("False: Two stacks with one state: infra/twin"), "{}", world.shown());
    assert_eq!(events(&world), [EventKind::StateShared], "said once");
    world.same_state = None;
    notices(&mut world);
    assert!(world.shown().starts_with("True: Applied successfully"), "{}", world.shown());
}

#[test]
fn what_another_stack_names_is_not_destroyed() {
    let mut world = World::applied(|_| {});
    world.definition.vanished = Some(world.now);
    world.same_state = Some(certain());
    insta::assert_snapshot!(world.ask(Ask::Destroy), @"refused: infra/twin (flux/twin.yaml:1) names the same state, s3 bucket=b key=k, workspace default: destroying it would destroy what infra/twin manages");
    world.same_state = Some(other(StateAddress::Perhaps("s3".to_owned())));
    insta::assert_snapshot!(world.ask(Ask::Destroy), @"refused: infra/twin (flux/twin.yaml:1) has the same code, workspace and backend, so perhaps the same state: destroying it would destroy what infra/twin manages");
    world.same_state = None;
    assert!(world.ask(Ask::Destroy).starts_with("a run is made; it plans the destruction"));
    assert!(world.shown().contains("; vanished from the manifests"), "{}", world.shown());
}

#[test]
fn only_a_destruction_minds_a_state_that_is_perhaps_the_same() {
    let mut world = World::new(auto);
    world.same_state = Some(other(StateAddress::Perhaps("s3".to_owned())));
    world.push("a");
    world.planned("first");
    assert_eq!(world.run().state, RunState::Applying);
    let mut world = World::new(|spec| {
        auto(spec);
        spec.destroy = true;
    });
    world.same_state = Some(other(StateAddress::Perhaps("s3".to_owned())));
    world.push("a");
    world.planned("first");
    assert_eq!(world.run().state, RunState::AwaitingApproval);
}
