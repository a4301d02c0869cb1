//! What lists show, and what is written down of who decided.

use super::world::World;
use crate::request::Ask;
use crate::run::{FailureClass, RunKind, RunState};
use crate::spec::ApprovePlan;

fn auto(spec: &mut crate::spec::StackSpec) {
    spec.approve_plan = ApprovePlan::Auto;
}

#[test]
fn a_vanished_stack_shows_the_destruction_that_waits() {
    let mut world = World::applied(auto);
    world.vanishes();
    insta::assert_snapshot!(world.shown(), @"Unknown: Vanished from the manifests at 2026-11-30T00:53:20Z; nothing of it was destroyed");
    world.ask(Ask::Destroy);
    world.planned("gone");
    assert_eq!((world.run().kind, world.run().state), (RunKind::Destroy, RunState::AwaitingApproval));
    insta::assert_snapshot!(world.shown(), @"Unknown: Destroy plan generated: plan-main-aaaaaaaaaa@283bb9deef02; vanished from the manifests at 2026-11-30T00:53:20Z: `yuba approve --plan` or `yuba reject` decides");
    world.ask(world.approval_by_name());
    world.reports_applied();
    insta::assert_snapshot!(world.shown(), @"Unknown: Vanished from the manifests at 2026-11-30T00:53:20Z, and destroyed");
}

#[test]
fn a_plan_that_waits_on_a_suspended_stack_shows_both() {
    let mut world = World::new(|_| {});
    world.push("a");
    world.planned("first");
    world.ask(Ask::Suspend);
    insta::assert_snapshot!(world.shown(), @r#"Unknown: Plan generated: set approvePlan: "plan-main-aaaaaaaaaa" to approve this plan; suspended by ada"#);
    world.ask(world.approval_by_name());
    insta::assert_snapshot!(world.shown(), @"Unknown: Waiting to be resumed; suspended by ada");
    world.ask(Ask::Resume);
    insta::assert_snapshot!(world.shown(), @"Unknown: Applying: main@sha1:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
}

#[test]
fn a_vanished_stack_can_only_be_destroyed() {
    let mut world = World::new(auto);
    world.vanishes();
    insta::assert_snapshot!(world.ask(Ask::Reconcile), @"nothing to reconcile: the stack vanished from the manifests, and can only be destroyed: `yuba destroy`");
    assert!(!world.run_to_come, "nobody need wait for a run");
    for ask in [Ask::Replan, Ask::CheckDrift] {
        let said = world.ask(ask);
        assert!(said.starts_with("refused: the stack vanished from the manifests"), "{said}");
    }
    insta::assert_snapshot!(world.ask(Ask::Destroy), @"a run is made once its source was read; it plans the destruction, and nothing is destroyed before somebody approves that plan");
    assert!(world.run_to_come, "somebody may wait for it");
}

#[test]
fn what_failed_before_is_no_run_of_a_look_that_finds_nothing_to_do() {
    let mut world = World::new(auto);
    world.push("a");
    world.reports_failed(FailureClass::Configuration);
    world.vanishes();
    assert_eq!(world.ask_for_run(Ask::Reconcile).1, None);
    let mut world = World::applied(auto);
    world.ask(Ask::Suspend);
    world.push("b");
    insta::assert_snapshot!(world.ask(Ask::Reconcile), @"refused: ada suspended the stack: say `yuba resume` first");
}

#[test]
fn a_destruction_says_so_and_is_approved_by_its_name_alone() {
    let mut world = World::applied(auto);
    insta::assert_snapshot!(world.ask(Ask::Destroy), @"a run is made; it plans the destruction, and nothing is destroyed before somebody approves that plan");
    world.planned_as("gone", |report| report.counts.delete = 3);
    insta::assert_snapshot!(world.shown(), @r#"Unknown: Destroy plan generated: set approvePlan: "plan-main-aaaaaaaaaa@283bb9deef02" to destroy 3 resources."#);
    insta::assert_snapshot!(world.ask(Ask::Approve { plan: None, digest: None }), @"refused: what waits is the destruction of the stack, 3 to destroy: look at it with `yuba show plan`, and approve it by its name: --plan plan-main-aaaaaaaaaa@283bb9deef02");
    assert_eq!(world.run().state, RunState::AwaitingApproval);
    insta::assert_snapshot!(world.ask(world.approval_by_name()), @"plan-main-aaaaaaaaaa is approved; the destruction starts");
    world.reports_applied();
    insta::assert_snapshot!(world.ask(Ask::Reconcile), @"nothing to reconcile: the stack was destroyed, so nothing of it can drift; `yuba replan` plans to make it anew");
}

#[test]
fn why_somebody_rejected_a_plan_is_shown() {
    let mut world = World::new(|_| {});
    world.push("a");
    world.planned("first");
    world.says = "not before\nMonday".to_owned();
    world.ask(Ask::Reject);
    insta::assert_snapshot!(world.shown(), @"False: Plan plan-main-aaaaaaaaaa was rejected by ada: not before");
}

#[test]
fn a_destruction_that_was_rejected_leaves_the_stack_as_it_stood() {
    let mut world = World::applied(auto);
    let before = world.shown();
    world.vanishes();
    world.ask(Ask::Destroy);
    world.planned("gone");
    world.ask(Ask::Reject);
    assert_eq!(world.run().state, RunState::Discarded);
    world.definition.vanished = None;
    world.edit(|_| {});
    assert_eq!(world.shown(), before);
}

#[test]
fn an_approval_in_the_manifest_that_approves_nothing_is_told() {
    let mut world = World::new(|_| {});
    world.push("a");
    world.planned("first");
    let id = world.run().revision.plan_id();
    let wrong = ApprovePlan::Plan { id, digest: Some("000000000000".to_owned()) };
    world.edit(|spec| spec.approve_plan = wrong);
    insta::assert_snapshot!(world.shown(), @r#"Unknown: Plan generated: approvePlan: "plan-main-aaaaaaaaaa@000000000000" approves nothing: another plan waits. Set approvePlan: "plan-main-aaaaaaaaaa@a7937b64b8ca" to approve this plan."#);
}

#[test]
fn an_approval_in_the_manifest_is_written_down_with_how_its_author_is_known() {
    let mut world = World::new(|_| {});
    world.push("a");
    world.planned("first");
    let id = world.run().revision.plan_id();
    world.definition.author = Some("ada".to_owned());
    world.definition.author_known_by = Some("pusher, verified by github".to_owned());
    world.edit(|spec| spec.approve_plan = ApprovePlan::Plan { id, digest: None });
    assert_eq!(world.run().state, RunState::Applying);
    let by = &world.run().decisions.first().unwrap().by;
    assert_eq!((by.who.as_str(), by.from.as_str()), ("ada", "manifest (pusher, verified by github)"));
}

#[test]
fn a_request_names_the_run_that_was_made_of_it() {
    let mut world = World::applied(auto);
    let first = world.run().id;
    let (_, run) = world.ask_for_run(Ask::Reconcile);
    assert_eq!((world.run().kind, Some(world.run().id)), (RunKind::Drift, run));
    assert_ne!(Some(first), run);
    let (_, none) = world.ask_for_run(Ask::Replan);
    assert_eq!(none, None, "it is made when the drift check has ended");
    let (_, current) = world.ask_for_run(Ask::Cancel { run: None });
    assert_eq!(current, run);
}

#[test]
fn an_effect_that_was_given_up_is_counted_for_good() {
    let mut world = World::applied(auto);
    let pending = world.stack.outbox.first_mut().unwrap();
    pending.given_up = true;
    world.edit(|_| {});
    world.edit(|_| {});
    assert_eq!(world.stack.given_up, 1);
}
