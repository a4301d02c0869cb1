//! What fails, is lost, comes twice or late.

use super::world::World;
use crate::attempt::{AttemptReport, AttemptState};
use crate::decide::TaskSeen;
use crate::effect::{Effect, PendingEffect};
use crate::event::EventKind;
use crate::id::SecretName;
use crate::job::BeforePlan;
use crate::message::{AttemptNews, Cause};
use crate::request::Ask;
use crate::run::{FailureClass, RunState};
use crate::source::Reason;
use crate::spec::{ApprovePlan, WriteOutputs};
use crate::time::Span;
use crate::trouble::{MANY, Trouble};

fn auto(spec: &mut crate::spec::StackSpec) {
    spec.approve_plan = ApprovePlan::Auto;
}

fn writes_outputs(spec: &mut crate::spec::StackSpec) {
    auto(spec);
    spec.write_outputs = Some(WriteOutputs { name: SecretName::new("infra", "out"), outputs: Vec::new() });
}

#[test]
fn the_same_message_twice_changes_nothing() {
    let mut world = World::new(auto);
    world.push("a");
    let attempt = world.out().id;
    let before = (world.stack.clone(), world.runs.clone());
    world.push("a");
    world.wake(Cause::Attempt { attempt, what: AttemptNews::Claimed });
    assert_eq!(world.runs, before.1);
    assert_eq!(world.stack.outbox, before.0.outbox);
    assert_eq!(world.stack.events, before.0.events);
}

#[test]
fn a_lost_plan_is_made_again_under_a_new_claim() {
    let mut world = World::new(auto);
    world.push("a");
    let lost = world.out().id;
    world.task_stops();
    let closed = world.attempts.iter().find(|attempt| attempt.id == lost).unwrap();
    assert_eq!(closed.state, AttemptState::Closed);
    assert_eq!((world.out().id.number, world.run().state), (2, RunState::Planning));
    world.task_stops();
    world.task_stops();
    assert_eq!(world.states(), "failed");
    world.passes(Span::seconds(16));
    assert_eq!(world.states(), "failed planning");
}

#[test]
fn a_lost_apply_fails_and_is_planned_anew_and_waits_where_approval_is_owed() {
    let mut world = World::new(|_| {});
    world.push("a");
    world.planned("first");
    world.ask(Ask::Approve { plan: None, digest: None });
    world.claims();
    world.task_stops();
    insta::assert_snapshot!(world.shown(), @"False: Apply failed: the apply attempt was lost: its task stopped without a report (signal 9); the state may hold half of the plan and the backend may still be locked: the next plan tells");
    world.passes(Span::seconds(16));
    world.planned("the rest");
    assert_eq!(world.states(), "failed awaiting-approval");
}

#[test]
fn a_report_that_was_written_counts_even_when_its_message_is_lost() {
    let mut world = World::new(auto);
    world.push("a");
    world.claims();
    let attempt = world.out();
    attempt.state = AttemptState::Reported;
    attempt.report =
        Some(AttemptReport::Stopped { message: "told to".to_owned(), acted: false, errored_state: false });
    world.passes(Span::seconds(31));
    assert_eq!(world.run().state, RunState::Failed);
}

#[test]
fn what_a_host_refused_is_tried_again_once_the_secret_that_opens_it_is_another() {
    let mut world = World::new(auto);
    world.hosts = vec![("Secret infra/git", "1")];
    world.push("a");
    world.reports_failed(FailureClass::AccessDenied);
    world.passes(Span::hours(5));
    assert_eq!(world.states(), "failed");
    world.hosts = vec![("Secret infra/git", "2")];
    world.passes(Span::minutes(1));
    assert_eq!(world.states(), "failed planning");
    assert_eq!(world.run().because, [Reason::Values("Secret infra/git".to_owned())]);
    world.reports_failed(FailureClass::AccessDenied);
    world.passes(Span::hours(5));
    assert_eq!(world.states(), "failed failed", "once for each");
    world.hosts.clear();
    world.passes(Span::minutes(1));
    world.planned("first");
    world.reports_applied();
    world.hosts = vec![("Secret infra/git", "3")];
    world.passes(Span::minutes(1));
    assert_eq!(world.states(), "failed failed applied", "what stands well is not planned for it");
}

#[test]
fn what_only_new_input_can_mend_waits_for_it() {
    let mut world = World::new(auto);
    world.push("a");
    world.reports_failed(FailureClass::Configuration);
    world.passes(Span::hours(24));
    assert_eq!(world.states(), "failed");
    assert_eq!(world.shown(), "False: Plan failed: it broke");
    world.push("b");
    assert_eq!(world.states(), "failed planning");
}

#[test]
fn what_time_can_mend_is_tried_again_ever_more_seldom() {
    let mut world = World::new(auto);
    world.push("a");
    let mut waits = Vec::new();
    for _ in 0..4 {
        world.reports_failed(FailureClass::Transient);
        let wait = world.stack.retry.as_ref().unwrap().due.unwrap().since(world.now);
        waits.push(wait.to_string());
        world.passes(wait);
    }
    assert_eq!(waits, ["15s", "30s", "1m0s", "2m0s"]);
}

#[test]
fn code_that_is_stored_no_more_is_stored_again_before_the_next_try() {
    let mut world = World::new(auto);
    world.push("a");
    let attempt = world.out().id;
    world.reports_failed(FailureClass::Artifact);
    let source = world.definition.spec.source.clone();
    let asked = Effect::StoreArtifact { attempt, source };
    assert!(world.stack.outbox.iter().any(|pending| pending.effect == asked), "{:?}", world.stack.outbox);
    world.passes(Span::seconds(15));
    assert_eq!(world.states(), "failed planning");
}

#[test]
fn the_same_error_on_many_stacks_holds_retries_back_behind_one_that_gives_notice() {
    let mut world = World::new(auto);
    world.push("a");
    world.reports_failed(FailureClass::Transient);
    world.trouble = Some(Trouble { stacks: MANY, probes: false, noticed: false });
    world.passes(Span::minutes(6));
    assert_eq!(world.states(), "failed", "it waits");
    let waits = "; many stacks have the same error: the next try waits until one of them succeeds";
    assert!(world.shown().ends_with(waits), "{}", world.shown());
    world.trouble = Some(Trouble { stacks: MANY, probes: true, noticed: false });
    world.passes(Span::minutes(6));
    assert_eq!(world.states(), "failed planning", "it goes on trying");
    world.reports_failed(FailureClass::Transient);
    world.passes(Span::minutes(6));
    assert_eq!(world.states(), "failed failed planning");
    let notices = world.stack.outbox.iter().filter(|pending| {
        matches!(&pending.effect, Effect::Publish { event } if event.kind == EventKind::RetriesPaused)
    });
    assert_eq!(notices.count(), 1);
    world.planned("first");
    assert!(world.stack.outbox.iter().any(|pending| matches!(pending.effect, Effect::ClearTrouble { .. })));
}

#[test]
fn a_state_that_moved_under_the_plan_is_planned_again() {
    let mut world = World::new(auto);
    world.push("a");
    world.planned("first");
    world.reports_failed(FailureClass::StalePlan);
    assert_eq!(world.states(), "planning");
    world.planned("second");
    assert_eq!(world.states(), "applying");
}

#[test]
fn an_attempt_that_takes_too_long_is_asked_to_stop_and_killed_only_much_later() {
    let mut world = World::new(auto);
    world.push("a");
    world.claims();
    world.passes(Span::minutes(33));
    assert!(world.out().stop.is_some(), "asked to stop");
    let killed = |world: &World| {
        world.stack.outbox.iter().any(|pending| matches!(pending.effect, Effect::KillTask { .. }))
    };
    world.passes(Span::minutes(14));
    assert!(!killed(&world));
    world.passes(Span::minutes(2));
    assert!(killed(&world));
}

#[test]
fn a_claimed_attempt_whose_task_nobody_knows_is_lost_once_it_would_have_been_killed() {
    let mut world = World::new(auto);
    world.push("a");
    world.planned("first");
    world.claims();
    world.task = TaskSeen::NeverStarted;
    world.passes(Span::hours(6));
    world.passes(Span::minutes(3));
    assert!(world.out().stop.is_some(), "asked to stop, should it live");
    world.passes(Span::minutes(14));
    assert_eq!(world.states(), "applying", "it may still act");
    world.passes(Span::minutes(2));
    insta::assert_snapshot!(world.shown(), @"False: Apply failed: the apply attempt was lost: nothing is known of its task, and its time is long over; the state may hold half of the plan and the backend may still be locked: the next plan tells");
}

#[test]
fn a_cancelled_run_ends_when_its_task_has_stopped() {
    let mut world = World::new(auto);
    world.push("a");
    world.claims();
    world.ask(Ask::Cancel { run: None });
    assert_eq!(world.states(), "planning");
    world.reports(AttemptReport::Stopped {
        message: "told to".to_owned(),
        acted: false,
        errored_state: false,
    });
    assert_eq!(world.states(), "cancelled");
    world.passes(Span::hours(1));
    assert_eq!(world.states(), "cancelled", "it is not made again until something changes");
}

#[test]
fn a_run_cancelled_before_its_task_claimed_ends_at_once_and_the_claim_is_closed() {
    let mut world = World::new(auto);
    world.push("a");
    let out = world.out().id;
    world.ask(Ask::Cancel { run: None });
    assert_eq!(world.states(), "cancelled");
    assert_eq!(world.attempts.iter().find(|attempt| attempt.id == out).unwrap().state, AttemptState::Closed);
}

#[test]
fn a_task_that_cannot_be_started_fails_its_run_with_the_reason() {
    let mut world = World::new(auto);
    world.push("a");
    let pending =
        world.stack.outbox.iter_mut().find(|pending| matches!(pending.effect, Effect::StartTask { .. }));
    let pending = pending.unwrap();
    pending.given_up = true;
    pending.trouble = Some("no such program".to_owned());
    world.passes(Span::minutes(1));
    assert_eq!(world.shown(), "False: Plan failed: the task could not be started: no such program");
}

#[test]
fn a_start_that_is_refused_after_its_task_claimed_does_not_close_the_claim() {
    let mut world = World::new(auto);
    world.push("a");
    let starts = world.stack.outbox.iter().find(|pending| matches!(pending.effect, Effect::StartTask { .. }));
    let again = PendingEffect { given_up: true, ..starts.unwrap().clone() };
    world.claims();
    world.stack.outbox.push(again);
    world.passes(Span::minutes(1));
    assert_eq!((world.states().as_str(), world.out().state), ("planning", AttemptState::Claimed));
}

#[test]
fn outputs_that_cannot_be_written_are_shown_until_they_are() {
    let mut world = World::new(writes_outputs);
    world.push("a");
    world.planned("first");
    world.reports_applied();
    let write =
        world.stack.outbox.iter_mut().find(|pending| matches!(pending.effect, Effect::WriteOutputs { .. }));
    let write = write.unwrap();
    write.given_up = true;
    write.trouble = Some("output not found: vpc".to_owned());
    world.passes(Span::minutes(1));
    let refused = "False: Outputs were not written to secret infra/out: output not found: vpc";
    assert_eq!(world.shown(), refused);
    world.passes(Span::hours(2));
    world.planned("");
    assert_eq!((world.states(), world.shown()), ("applied unchanged".to_owned(), refused.to_owned()));
}

#[test]
fn a_state_that_was_left_behind_is_planned_over_only_when_somebody_asks() {
    let mut world = World::new(auto);
    world.push("a");
    world.planned("first");
    world.reports(AttemptReport::Stopped { message: "told to".to_owned(), acted: true, errored_state: true });
    let failed = world.shown();
    assert!(failed.contains("its state could not be saved; `yuba recover "), "{failed}");
    world.push("b");
    world.passes(Span::hours(2));
    assert_eq!(world.states(), "failed", "neither a push nor time plans over it");
    let run = world.runs.first().unwrap().id;
    let answer = world.ask(Ask::Recover { run });
    assert!(answer.contains("it pushes the state that"), "{answer}");
    assert!(matches!(world.out().job.backend_first[..], [BeforePlan::PushState(_)]));
    world.planned("second");
    world.reports_applied();
    world.push("c");
    assert_eq!(world.states(), "failed applied planning");
}

#[test]
fn a_revision_that_cannot_be_planned_fails_at_once_with_what_is_wrong() {
    let mut world = World::applied(auto);
    world.observation.as_mut().unwrap().problems = vec!["module ../gone does not exist".to_owned()];
    world.observation.as_mut().unwrap().closure = crate::id::ClosureDigest::of(b"gone");
    world.passes(Span::minutes(20));
    assert_eq!(world.states(), "applied failed");
    assert_eq!(world.shown(), "False: Plan failed: module ../gone does not exist");
}

#[test]
fn a_stack_that_failed_for_its_revision_is_planned_when_the_revision_is_mended() {
    let mut world = World::new(auto);
    world.push("a");
    world.planned("first");
    world.reports_applied();
    world.observation.as_mut().unwrap().problems = vec!["docs/hosts leaves the repository".to_owned()];
    world.passes(Span::minutes(20));
    assert_eq!(world.states(), "applied failed");
    world.observation.as_mut().unwrap().problems.clear();
    world.wake(Cause::Definition { set: world.definition.set.clone(), snapshot: 1 });
    assert_eq!(world.states(), "applied failed planning");
}

#[test]
fn unlocking_is_refused_while_an_attempt_may_hold_the_lock() {
    let mut world = World::new(auto);
    world.push("a");
    world.claims();
    let answer = world.ask(Ask::Unlock { lock: "7".to_owned() });
    assert!(answer.starts_with("refused: attempt "), "{answer}");
    world.reports_failed(FailureClass::Locked);
    world.ask(Ask::Unlock { lock: "7".to_owned() });
    assert_eq!(world.out().job.backend_first, [BeforePlan::Unlock("7".to_owned())]);
}
