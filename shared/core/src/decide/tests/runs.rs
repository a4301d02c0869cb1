//! Runs that bring a stack to what Git wants, and who lets them.

use super::world::World;
use crate::attempt::AttemptReport;
use crate::effect::{Effect, PendingEffect};
use crate::event::EventKind;
use crate::id::{PlanId, SecretName, StackName};
use crate::job::BeforePlan;
use crate::request::{Adoption, Ask};
use crate::run::{RunState, Waiting};
use crate::source::Reason;
use crate::spec::{ApprovePlan, NotApplied, WriteOutputs};
use crate::time::Span;

const APPROVE: Ask = Ask::Approve { plan: None, digest: None };

fn auto(spec: &mut crate::spec::StackSpec) {
    spec.approve_plan = ApprovePlan::Auto;
}

#[test]
fn an_automatic_stack_is_planned_and_applied() {
    let mut world = World::new(auto);
    world.push("a");
    assert_eq!(world.run().because, [Reason::First]);
    world.planned("first");
    assert_eq!(world.run().state, RunState::Applying);
    world.reports_applied();
    assert_eq!(world.shown(), format!("True: Applied successfully: main@sha1:{}", "a".repeat(40)));
    assert!(world.stack.outbox.iter().any(|pending| matches!(pending.effect, Effect::WakeDependants { .. })));
}

#[test]
fn a_plan_waits_until_its_very_content_is_approved() {
    let mut world = World::new(|_| {});
    world.push("a");
    world.planned("first");
    assert_eq!(
        world.shown(),
        "Unknown: Plan generated: set approvePlan: \"plan-main-aaaaaaaaaa\" to approve this plan."
    );
    let old: PlanId = "plan-main-0000000000".parse().unwrap();
    insta::assert_snapshot!(
        world.ask(Ask::Approve { plan: Some(old), digest: None }),
        @"refused: plan-main-0000000000 is not the plan that waits: that is plan-main-aaaaaaaaaa@a7937b64b8ca"
    );
    assert_eq!(world.run().state, RunState::AwaitingApproval);
    insta::assert_snapshot!(world.ask(APPROVE), @"plan-main-aaaaaaaaaa is approved; the apply starts");
    let plan = world.out().job.plan.clone().unwrap();
    let approved = world.run().plan.as_ref().unwrap().report.clone();
    assert_eq!((plan.file, plan.content), (approved.file, approved.content));
}

#[test]
fn a_newer_commit_supersedes_a_waiting_plan_and_its_approval_does_not_carry_over() {
    let mut world = World::new(|_| {});
    world.push("a");
    world.planned("first");
    world.push("b");
    world.planned("second");
    assert_eq!(world.states(), "superseded awaiting-approval");
    let superseded: PlanId = "plan-main-aaaaaaaaaa".parse().unwrap();
    assert!(world.ask(Ask::Approve { plan: Some(superseded), digest: None }).starts_with("refused: "));
    assert_eq!(world.run().decisions, []);
}

#[test]
fn what_was_superseded_while_suspended_is_planned_when_it_is_wanted_again() {
    let mut world = World::new(|_| {});
    world.push("a");
    world.planned("first");
    world.ask(Ask::Suspend);
    world.push("b");
    assert_eq!(world.states(), "superseded");
    world.push("a");
    world.ask(Ask::Resume);
    assert_eq!(world.states(), "superseded planning");
}

#[test]
fn pushes_during_an_apply_are_coalesced_to_the_newest() {
    let mut world = World::new(auto);
    world.push("a");
    world.planned("first");
    for letter in ["b", "c", "d"] {
        world.push(letter);
    }
    world.reports_applied();
    assert_eq!(world.states(), "applied planning");
    assert_eq!(world.run().revision.to_string(), format!("main@sha1:{}", "d".repeat(40)));
}

#[test]
fn approve_plan_in_the_manifest_approves_and_never_loops() {
    let mut world = World::new(|_| {});
    world.push("a");
    world.planned("first");
    let id: PlanId = "plan-main-aaaaaaaaaa".parse().unwrap();
    world.edit(|spec| spec.approve_plan = ApprovePlan::Plan { id, digest: None });
    assert_eq!(world.states(), "applying", "the approval is no input of the plan");
    world.reports_applied();
    world.passes(Span::minutes(1));
    assert_eq!(world.states(), "applied");
}

#[test]
fn the_id_of_a_reviewed_plan_does_not_approve_a_destruction_of_the_same_revision() {
    let mut world = World::new(|_| {});
    world.push("a");
    world.planned("first");
    let id: PlanId = "plan-main-aaaaaaaaaa".parse().unwrap();
    world.ask(Ask::Destroy);
    world.planned("destroy");
    insta::assert_snapshot!(
        world.ask(Ask::Approve { plan: Some(id.clone()), digest: None }),
        @"refused: another plan had the id plan-main-aaaaaaaaaa before; the one that waits is plan-main-aaaaaaaaaa@6f61ec5c7a0a: look at it and approve that"
    );
    let digest = crate::id::ContentDigest::of(b"destroy").short();
    assert!(
        world.ask(Ask::Approve { plan: Some(id), digest: Some(digest) }).ends_with("the destruction starts")
    );
}

#[test]
fn an_old_approval_in_the_manifest_does_not_approve_another_plan_of_the_same_revision() {
    let mut world = World::new(|_| {});
    world.push("a");
    world.planned("first");
    let id: PlanId = "plan-main-aaaaaaaaaa".parse().unwrap();
    world.edit(|spec| spec.approve_plan = ApprovePlan::Plan { id: id.clone(), digest: None });
    world.reports_applied();
    world.edit(|spec| spec.workspace = "other".to_owned());
    world.planned("second");
    assert_eq!(world.states(), "applied awaiting-approval");
    let digest = crate::id::ContentDigest::of(b"second").short();
    world.edit(|spec| spec.approve_plan = ApprovePlan::Plan { id, digest: Some(digest) });
    assert_eq!(world.states(), "applied applying");
}

#[test]
fn a_rejected_plan_is_not_made_again_until_something_changes() {
    let mut world = World::new(|_| {});
    world.push("a");
    world.planned("first");
    insta::assert_snapshot!(world.ask(Ask::Reject), @"plan-main-aaaaaaaaaa is rejected; nothing is applied until something changes");
    world.passes(Span::hours(30));
    assert_eq!(world.states(), "discarded");
    assert_eq!(
        world.ask(APPROVE),
        "refused: nothing waits for approval: Plan plan-main-aaaaaaaaaa was rejected by ada"
    );
    world.push("b");
    assert_eq!(world.states(), "discarded planning");
}

#[test]
fn a_plan_only_stack_or_one_with_fields_that_do_not_work_yet_is_never_applied() {
    let targets = NotApplied { field: "spec.targets".to_owned(), matters: true };
    let mut world = World::new(|spec| {
        auto(spec);
        spec.not_applied.push(targets);
    });
    world.push("a");
    world.planned("first");
    assert_eq!(world.states(), "planned");
    assert_eq!(
        world.shown(),
        "Unknown: Plan generated; never applied: the manifest uses what is not applied yet: spec.targets"
    );
}

#[test]
fn a_first_plan_whose_state_may_live_elsewhere_waits_for_adoption() {
    let mut world = World::new(auto);
    world.push("a");
    world.planned_as("first", |report| {
        report.backend_named = false;
        report.state_was_empty = true;
    });
    assert_eq!(world.states(), "awaiting-adoption");
    assert!(world.ask(APPROVE).starts_with("refused: the first plan waits for a word on its state"));
    world.ask(Ask::Adopt(Adoption::New));
    assert_eq!(world.states(), "applying");
}

#[test]
fn an_imported_state_is_pushed_before_the_stack_is_planned_again() {
    let mut world = World::new(auto);
    world.push("a");
    world.planned_as("first", |report| {
        report.backend_named = false;
        report.state_was_empty = true;
    });
    world.ask(Ask::Adopt(Adoption::Imported));
    assert_eq!(world.out().job.backend_first, [BeforePlan::ImportState]);
    world.planned("");
    assert_eq!(world.states(), "unchanged", "what the old controller made is adopted as it stands");
}

#[test]
fn a_dependant_waits_for_its_dependency_and_says_so() {
    let mut world = World::new(|spec| spec.depends_on.push(StackName::new("infra", "dns")));
    world.blocked_by = Some("is not ready yet");
    world.push("a");
    assert_eq!(world.shown(), "Unknown: Waiting for dependencies: infra/dns is not ready yet");
    assert_eq!(world.run().waits_for, Waiting::Dependencies(vec!["infra/dns is not ready yet".to_owned()]));
    world.blocked_by = None;
    world.passes(Span::minutes(6));
    assert_eq!(world.states(), "planning");
}

#[test]
fn a_suspended_stack_starts_no_run_until_it_is_resumed() {
    let mut world = World::new(auto);
    world.ask(Ask::Suspend);
    world.push("a");
    assert_eq!(world.states(), "");
    assert_eq!(world.shown(), "Unknown: Suspended by ada");
    world.ask(Ask::Resume);
    assert_eq!(world.states(), "planning");
    world.edit(|spec| spec.suspend = true);
    insta::assert_snapshot!(world.ask(Ask::Resume), @"the manifest still suspends the stack: set `suspend: false` there");
}

#[test]
fn a_pause_holds_applies_back_and_keeps_the_approval() {
    let mut world = World::new(auto);
    world.paused = true;
    world.push("a");
    world.planned("first");
    assert_eq!(world.run().waits_for, Waiting::Unpause);
    world.paused = false;
    world.passes(Span::minutes(1));
    assert_eq!(world.states(), "applying");
}

#[test]
fn changed_values_make_a_waiting_plan_stale_and_an_equal_one_keeps_its_approval() {
    let mut world = World::new(|_| {});
    world.paused = true;
    world.push("a");
    world.planned("first");
    world.ask(APPROVE);
    world.values = vec![("Secret infra/db", "2")];
    world.passes(Span::minutes(1));
    assert_eq!(world.states(), "planning", "planned again with the new values");
    world.planned("first");
    world.paused = false;
    world.passes(Span::minutes(1));
    assert_eq!(world.states(), "applying", "the same content is still approved");
}

#[test]
fn outputs_are_written_after_an_apply_and_when_they_are_first_asked_for() {
    let mut world = World::applied(auto);
    let write = WriteOutputs { name: SecretName::new("infra", "out"), outputs: Vec::new() };
    world.edit(|spec| spec.write_outputs = Some(write));
    world.planned("");
    assert_eq!(world.states(), "applied applying", "an unchanged plan is applied for its outputs");
    world.reports_applied();
    assert!(world.stack.outbox.iter().any(|pending| matches!(pending.effect, Effect::WriteOutputs { .. })));
}

#[test]
fn outputs_that_an_apply_left_behind_are_written_once_its_state_is_recovered() {
    let write = WriteOutputs { name: SecretName::new("infra", "out"), outputs: Vec::new() };
    let mut world = World::applied(|spec| {
        auto(spec);
        spec.write_outputs = Some(write);
    });
    world.stack.outbox.clear();
    world.push("b");
    world.planned("second");
    let run = world.run().id;
    world.reports(AttemptReport::Stopped { message: "told to".to_owned(), acted: true, errored_state: true });
    world.ask(Ask::Recover { run });
    world.planned("");
    assert_eq!(world.states(), "applied failed applying", "an unchanged plan is applied for its outputs");
    world.reports_applied();
    assert!(world.stack.outbox.iter().any(|pending| matches!(pending.effect, Effect::WriteOutputs { .. })));
}

#[test]
fn a_destruction_that_somebody_asked_for_waits_even_where_plans_apply_by_themselves() {
    let mut world = World::applied(auto);
    world.ask(Ask::Destroy);
    world.planned("destroy");
    assert_eq!(world.states(), "applied awaiting-approval");
    world.ask(world.approval_by_name());
    world.reports_applied();
    assert!(world.shown().starts_with("True: Destroy applied successfully"), "{}", world.shown());
    world.passes(Span::hours(5));
    assert_eq!(world.states(), "applied applied", "nothing is left whose drift could be checked");
}

#[test]
fn a_new_path_is_not_planned_in_the_tree_that_was_seen_before() {
    let mut world = World::applied(auto);
    if let Some(seen) = &mut world.observation {
        seen.path = Some("network".to_owned());
    }
    world.edit(|spec| spec.path = "moved".to_owned());
    assert_eq!(world.states(), "applied");
    world.push("b");
    assert_eq!(world.states(), "applied planning");
}

#[test]
fn a_stack_that_vanishes_is_told_each_time_it_does() {
    let mut world = World::applied(auto);
    world.vanishes();
    world.edit(|_| {});
    world.definition.vanished = None;
    world.edit(|_| {});
    world.vanishes();
    let is_told = |pending: &&PendingEffect| matches!(&pending.effect, Effect::Publish { event } if event.kind == EventKind::StackVanished);
    assert_eq!(world.stack.outbox.iter().filter(is_told).count(), 2);
}

#[test]
fn a_faulty_document_is_told_once_and_what_was_good_goes_on() {
    let mut world = World::applied(auto);
    let fault = "flux/network.yaml:8:3: error: spec.intervall: no such field; did you mean `interval`?";
    world.definition.held_back = Some(fault.to_owned());
    world.edit(|_| {});
    world.edit(|_| {});
    assert_eq!(
        world.shown(),
        format!(
            "True: Applied successfully: main@sha1:{}; its last good version stays in force: {fault}",
            "a".repeat(40)
        )
    );
    world.definition.held_back = None;
    world.edit(|_| {});
    assert!(!world.shown().contains("last good"), "{}", world.shown());
    let kinds: Vec<EventKind> = world
        .stack
        .outbox
        .iter()
        .filter_map(|pending| match &pending.effect {
            Effect::Publish { event } => Some(event.kind),
            _ => None,
        })
        .filter(|kind| [EventKind::ManifestFaulty, EventKind::ManifestMended].contains(kind))
        .collect();
    assert_eq!(kinds, [EventKind::ManifestFaulty, EventKind::ManifestMended]);
}
