//! Freezes: nothing is approved or applied while one is in force, and people are told which and until when.

use super::world::World;
use crate::freeze::{Covered, Freeze, FreezeSpec};
use crate::id::{ManifestSetName, ObjectName};
use crate::request::Ask;
use crate::run::RunState;
use crate::spec::{ApprovePlan, StackSpec};
use crate::time::{Span, Timestamp};

const APPROVE: Ask = Ask::Approve { plan: None, digest: None };

fn freeze(from: Option<Timestamp>, until: Option<Timestamp>) -> Freeze {
    let (reason, windows, stacks) = ("inventory".to_owned(), Vec::new(), Vec::new());
    Freeze {
        name: ObjectName::new("infra", "year-end"),
        spec: FreezeSpec { reason, from, until, windows, stacks },
        set: ManifestSetName("flux".to_owned()),
        snapshot: 1,
        place: "freeze.yaml:1".to_owned(),
        vanished: None,
    }
}

fn world(approve: ApprovePlan) -> World {
    World::new(|spec: &mut StackSpec| {
        spec.approve_plan = approve;
        spec.state_is_new = true;
    })
}

#[test]
fn during_a_freeze_nobody_approves_and_afterwards_they_may() {
    let mut world = world(ApprovePlan::Manual);
    world.freezes = vec![freeze(None, Some(world.now + Span::hours(5)))];
    world.push("a");
    world.planned("first");
    insta::assert_snapshot!(world.ask(APPROVE), @"refused: Freeze infra/year-end (inventory): nothing is approved or applied until 2026-11-30T05:53:20Z");
    insta::assert_snapshot!(world.shown(), @r#"Unknown: Plan generated: set approvePlan: "plan-main-aaaaaaaaaa" to approve this plan; Freeze infra/year-end (inventory): nothing is approved or applied until 2026-11-30T05:53:20Z"#);
    world.stack.outbox.clear();
    world.passes(Span::hours(1));
    assert_eq!(world.stack.due.map(|due| due.to_string()).as_deref(), Some("2026-11-30T05:53:20Z"));
    world.passes(Span::hours(4));
    assert!(!world.shown().contains("Freeze"), "{}", world.shown());
    world.ask(APPROVE);
    assert_eq!(world.run().state, RunState::Applying);
}

#[test]
fn what_applies_by_itself_waits_for_the_end_and_says_so() {
    let mut world = world(ApprovePlan::Auto);
    world.freezes = vec![freeze(None, Some(world.now + Span::hours(5)))];
    world.push("a");
    world.planned("first");
    assert_eq!(world.run().state, RunState::AwaitingApproval);
    insta::assert_snapshot!(world.shown(), @"Unknown: Plan generated: plan-main-aaaaaaaaaa@a7937b64b8ca, approved; Freeze infra/year-end (inventory): nothing is approved or applied until 2026-11-30T05:53:20Z");
    insta::assert_snapshot!(world.run().waits_for.words(), @"the end of Freeze infra/year-end (inventory): nothing is approved or applied until 2026-11-30T05:53:20Z");
    world.passes(Span::hours(4));
    assert_eq!(world.run().state, RunState::AwaitingApproval);
    world.passes(Span::hours(1));
    assert_eq!(world.run().state, RunState::Applying);
}

#[test]
fn a_freeze_that_begins_between_decision_and_apply_holds_the_apply_back() {
    let mut world = world(ApprovePlan::Manual);
    world.push("a");
    world.planned("first");
    world.paused = true;
    world.ask(APPROVE);
    world.freezes = vec![freeze(None, None)];
    world.paused = false;
    world.stack.outbox.clear();
    world.passes(Span::minutes(1));
    assert_eq!(world.run().state, RunState::AwaitingApproval);
    assert!(world.shown().ends_with("applied while its manifest stands"), "{}", world.shown());
    let looks = world.stack.due.map(|due| due.since(world.now));
    assert_eq!(looks, Some(Span::minutes(10)), "it may be taken back at any time");
    world.freezes.clear();
    world.passes(Span::minutes(10));
    assert_eq!(world.run().state, RunState::Applying, "the approval still counts");
}

#[test]
fn an_apply_that_has_begun_goes_on() {
    let mut world = world(ApprovePlan::Auto);
    world.push("a");
    world.planned("first");
    world.freezes = vec![freeze(None, None)];
    world.reports_applied();
    assert_eq!(world.states(), "applied");
}

#[test]
fn drift_is_looked_for_and_not_put_right() {
    let mut world = World::applied(|_| {});
    world.freezes = vec![freeze(None, None)];
    world.passes(Span::minutes(12));
    world.planned("by hand");
    assert_eq!(world.states(), "applied drifted");
    assert!(world.ask(APPROVE).starts_with("refused: Freeze infra/year-end"));
}

#[test]
fn what_it_does_not_cover_or_not_yet_goes_on() {
    let mut others = freeze(None, None);
    let (name, namespace) = ("dns".to_owned(), "*".to_owned());
    others.spec.stacks = vec![Covered { name, namespace, labels: [].into() }];
    let mut world = world(ApprovePlan::Auto);
    world.freezes = vec![others, freeze(Some(world.now + Span::hours(9)), None)];
    world.push("a");
    world.planned("first");
    assert_eq!(world.run().state, RunState::Applying);
}

#[test]
fn a_plan_that_waits_is_looked_at_when_a_freeze_begins() {
    let mut world = world(ApprovePlan::Manual);
    let begins = world.now + Span::hours(9);
    world.freezes = vec![freeze(Some(begins), None)];
    world.push("a");
    world.planned("first");
    world.stack.outbox.clear();
    world.passes(Span::hours(1));
    assert_eq!(world.stack.due, Some(begins));
}
