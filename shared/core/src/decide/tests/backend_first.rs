//! What somebody asked to be done to a backend outlives the runs that should have done it.

use super::world::World;
use crate::attempt::AttemptReport;
use crate::decide::Holder;
use crate::id::{AttemptId, Phase, StackName};
use crate::job::BeforePlan;
use crate::request::{Adoption, Ask};
use crate::run::{Failure, FailureClass, LockHeld};
use crate::spec::{ApprovePlan, StackSpec};
use crate::time::Span;

fn auto(spec: &mut StackSpec) {
    spec.approve_plan = ApprovePlan::Auto;
}

/// A stack whose apply left a state behind that its backend does not hold.
fn unsaved(change: impl FnOnce(&mut StackSpec)) -> World {
    let mut world = World::new(change);
    world.push("a");
    world.planned("first");
    world.reports(AttemptReport::Stopped { message: "told to".to_owned(), acted: true, errored_state: true });
    world
}

fn recover(world: &mut World) -> String {
    let run = world.runs.iter().find(|run| run.failure.as_ref().is_some_and(|failure| failure.errored_state));
    let run = run.unwrap().id;
    world.ask(Ask::Recover { run })
}

/// A stack whose first plan waits for a word on its state, and whose state was uploaded.
fn imported() -> World {
    let mut world = World::new(auto);
    world.push("a");
    world.planned_as("everything", |report| {
        report.backend_named = false;
        report.state_was_empty = true;
    });
    world.ask(Ask::Adopt(Adoption::Imported));
    world
}

#[test]
fn a_state_is_pushed_by_the_run_after_one_that_was_superseded_before_it_started() {
    let mut world = unsaved(|spec| {
        auto(spec);
        spec.depends_on.push(StackName::new("infra", "dns"));
    });
    world.blocked_by = Some("is not updated yet");
    recover(&mut world);
    assert_eq!(world.states(), "failed queued");
    world.push("b");
    assert_eq!(world.states(), "failed superseded queued");
    world.blocked_by = None;
    world.passes(Span::minutes(6));
    assert!(matches!(world.out().job.backend_first[..], [BeforePlan::PushState(_)]));
}

#[test]
fn a_state_that_could_not_be_pushed_is_pushed_again_by_itself() {
    let mut world = unsaved(auto);
    recover(&mut world);
    world.reports_failed(FailureClass::Transient);
    world.passes(Span::minutes(2));
    assert_eq!(world.states(), "failed failed planning");
    assert!(matches!(world.out().job.backend_first[..], [BeforePlan::PushState(_)]));
    world.planned("second");
    world.reports_applied();
    world.push("b");
    assert!(world.out().job.backend_first.is_empty(), "it was done once");
}

#[test]
fn a_state_that_the_backend_refused_is_not_pushed_again() {
    let mut world = unsaved(auto);
    recover(&mut world);
    world.reports_failed(FailureClass::Refused);
    world.push("b");
    world.passes(Span::hours(2));
    assert_eq!(world.states(), "failed failed", "nothing is planned over what is missing");
    world.ask(Ask::Replan);
    assert!(world.out().job.backend_first.is_empty(), "a plan without it is made when somebody says so");
}

#[test]
fn only_who_means_it_plans_without_the_state_that_was_left_behind() {
    let mut world = unsaved(auto);
    let recover_it = format!("`yuba recover {}` pushes it first", world.run().id);
    for ask in [Ask::Reconcile, Ask::Destroy, Ask::Unlock { lock: "7".to_owned() }] {
        let answer = world.ask(ask);
        assert!(answer.starts_with("refused: an apply left a state behind"), "{answer}");
        assert!(answer.contains(&recover_it), "{answer}");
    }
    recover(&mut world);
    world.ask(Ask::Cancel { run: None });
    world.push("b");
    assert_eq!(world.states(), "failed cancelled", "it is held again");
}

#[test]
fn a_plan_without_the_state_that_was_left_behind_says_so_and_another_has_nothing_to_say() {
    let mut world = unsaved(auto);
    let run = world.run().id;
    let disregards = format!(
        "a run is made; it disregards the state that an apply left behind and that is not in its backend: `yuba recover \
         {run}` pushes that"
    );
    assert_eq!(world.ask(Ask::Replan), disregards);
    world.planned("");
    assert_eq!(world.ask(Ask::Replan), "a run is made");
}

#[test]
fn a_lock_that_stands_before_the_push_is_released_first() {
    let mut world = unsaved(auto);
    recover(&mut world);
    world.reports_failed(FailureClass::Locked);
    world.ask(Ask::Unlock { lock: "7".to_owned() });
    assert!(matches!(world.out().job.backend_first[..], [BeforePlan::Unlock(_), BeforePlan::PushState(_)]));
    world.reports_failed(FailureClass::Refused);
    world.passes(Span::minutes(2));
    assert!(matches!(world.out().job.backend_first[..], [BeforePlan::PushState(_)]), "the lock was gone");
}

#[test]
fn a_lock_is_released_with_a_word_on_its_holder_and_never_while_an_attempt_may_hold_it() {
    let mut world = World::new(auto);
    world.push("a");
    let lock = LockHeld {
        id: "7".to_owned(),
        who: "ann@laptop".to_owned(),
        operation: "OperationTypeApply".to_owned(),
        created: "2026-11-30 08:00:00.1 +0000 UTC".to_owned(),
    };
    let (class, message) = (FailureClass::Locked, "locked".to_owned());
    let detail = String::new();
    world.reports(AttemptReport::Failed(Failure {
        class,
        message,
        detail,
        lock: Some(lock),
        errored_state: false,
    }));
    let unlock = || Ask::Unlock { lock: "7".to_owned() };
    let attempt = AttemptId { run: world.run().id, phase: Phase::Apply, number: 1 };
    world.holder = Some(Holder { name: StackName::new("infra", "twin"), attempt });
    let refused = world.ask(unlock());
    assert!(
        refused.contains("of infra/twin, which has the same state, is out and may hold the lock"),
        "{refused}"
    );
    world.holder = None;
    insta::assert_snapshot!(world.ask(unlock()), @"a run is made; it releases lock 7 first, held by ann@laptop for OperationTypeApply since 2026-11-30T08:00:00Z, 0s ago; whoever that is must be at work no more");
    assert!(world.ask(unlock()).starts_with("refused: attempt "), "its own attempt is out");
}

#[test]
fn an_imported_state_is_never_planned_without() {
    let mut world = imported();
    world.reports_failed(FailureClass::Transient);
    world.push("b");
    assert_eq!(world.out().job.backend_first, [BeforePlan::ImportState]);
    world.planned("");
    assert_eq!(world.states(), "failed unchanged");
}

#[test]
fn an_imported_state_that_was_refused_leaves_the_question_open() {
    let mut world = imported();
    world.reports_failed(FailureClass::Refused);
    world.passes(Span::hours(2));
    assert_eq!(world.states(), "failed", "a person reads why");
    let mut asked = imported();
    asked.reports_failed(FailureClass::Refused);
    asked.ask(Ask::Adopt(Adoption::Imported));
    assert_eq!(asked.out().job.backend_first, [BeforePlan::ImportState], "it is tried with another");
    world.ask(Ask::Reconcile);
    assert!(world.out().job.backend_first.is_empty());
    world.planned_as("everything", |report| {
        report.backend_named = false;
        report.state_was_empty = true;
    });
    assert_eq!(world.states(), "failed awaiting-adoption");
}
