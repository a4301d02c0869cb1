//! Drift: found, reported, put right, and never a back door.

use super::world::World;
use crate::effect::{Effect, PendingEffect};
use crate::event::EventKind;
use crate::request::Ask;
use crate::run::{RunKind, RunState};
use crate::source::Reason;
use crate::spec::{ApprovePlan, DriftMode, StackSpec};
use crate::time::Span;

const APPROVE: Ask = Ask::Approve { plan: None, digest: None };

fn remediating(spec: &mut StackSpec) {
    spec.approve_plan = ApprovePlan::Auto;
    spec.drift.mode = DriftMode::Remediate;
}

#[test]
fn drift_is_reported_and_can_be_approved() {
    let mut world = World::applied(|_| {});
    world.passes(Span::minutes(12));
    assert_eq!(world.run().kind, RunKind::Drift);
    world.planned("by hand");
    assert_eq!(world.shown(), "False: Drift detected: 3 resources");
    world.ask(APPROVE);
    assert_eq!(
        (world.run().kind, &world.run().because[..]),
        (RunKind::Tracked, &[Reason::DriftApproved][..])
    );
    world.planned("by hand");
    assert_eq!(world.states(), "applied drifted applying", "the same content needs no second approval");
    world.reports_applied();
    assert_eq!(world.stack.drift, None);
}

#[test]
fn an_approved_drift_that_became_something_else_waits_again() {
    let mut world = World::applied(|_| {});
    world.passes(Span::minutes(12));
    world.planned("by hand");
    world.ask(APPROVE);
    world.planned("more by hand");
    assert_eq!(world.run().state, RunState::AwaitingApproval);
    assert!(
        world.shown().contains("it differs from the drift that was to be put right"),
        "{}",
        world.shown()
    );
}

#[test]
fn drift_is_put_right_where_the_mode_allows_and_reported_when_it_comes_back_unchanged() {
    let mut world = World::applied(remediating);
    world.passes(Span::minutes(12));
    world.planned("by hand");
    world.planned("by hand");
    world.reports_applied();
    assert_eq!(world.states(), "applied drifted applied");
    world.passes(Span::minutes(12));
    world.planned("by hand");
    assert_eq!(world.states(), "applied drifted applied drifted", "not put right again");
}

#[test]
fn drift_that_stays_away_for_a_check_may_be_put_right_again() {
    let mut world = World::applied(remediating);
    world.passes(Span::minutes(12));
    world.planned("by hand");
    world.planned("by hand");
    world.reports_applied();
    world.passes(Span::minutes(12));
    world.planned("");
    world.passes(Span::minutes(12));
    world.planned("by hand");
    assert_eq!(world.states(), "applied drifted applied unchanged drifted planning");
}

#[test]
fn what_may_not_be_put_right_by_itself_is_reported() {
    let mut world = World::applied(remediating);
    world.passes(Span::minutes(12));
    world.planned_as("deleted", |report| {
        report.remediation_refused = Some("it would replace toy_database.a".to_owned());
    });
    assert_eq!(world.states(), "applied drifted");
}

#[test]
fn a_rejected_revision_is_not_applied_by_the_door_of_drift() {
    let mut world = World::applied(|_| {});
    world.push("b");
    world.planned("second");
    world.ask(Ask::Reject);
    world.passes(Span::minutes(12));
    assert_eq!(world.run().kind, RunKind::Drift);
    assert_eq!(
        world.run().revision.to_string(),
        format!("main@sha1:{}", "a".repeat(40)),
        "the applied revision is checked"
    );
    world.planned("by hand");
    world.ask(APPROVE);
    assert_eq!(world.run().revision.to_string(), format!("main@sha1:{}", "a".repeat(40)));
}

#[test]
fn no_drift_is_said_with_the_revision() {
    let mut world = World::applied(|_| {});
    world.ask(Ask::CheckDrift);
    world.planned("");
    assert_eq!(world.shown(), format!("True: No drift: main@sha1:{}", "a".repeat(40)));
}

#[test]
fn a_look_for_drift_tells_only_of_what_is_new() {
    let mut world = World::applied(|_| {});
    let mut told = Vec::new();
    for drift in ["", "by hand", "by hand", ""] {
        let before = world.stack.events;
        world.ask(Ask::CheckDrift);
        world.planned(drift);
        told.push(world.stack.events - before);
    }
    assert_eq!(told, [0, 1, 0, 1], "nothing, found, known, gone");
}

#[test]
fn that_nothing_drifted_does_not_hide_a_plan_that_was_never_applied() {
    for (against, shown) in
        [(Ask::Cancel { run: None }, "Unknown: Run 2 is cancelled"), (Ask::Reject, "False: ")]
    {
        let mut world = World::applied(|_| {});
        world.push("b");
        world.planned("second");
        world.ask(against);
        let before = world.shown();
        assert!(before.starts_with(shown), "{before}");
        world.ask(Ask::CheckDrift);
        world.planned("");
        assert_eq!((world.run().state, world.shown()), (RunState::Unchanged, before));
    }
}

#[test]
fn a_stack_that_is_no_longer_disabled_is_planned_to_be_applied() {
    let mut world = World::new(|spec| spec.approve_plan = ApprovePlan::Disable);
    world.push("a");
    world.planned("everything");
    assert_eq!(world.states(), "drifted");
    world.edit(|spec| spec.approve_plan = ApprovePlan::Auto);
    assert_eq!(world.run().kind, RunKind::Tracked);
    world.planned("everything");
    assert_eq!(world.states(), "drifted applying");
}

#[test]
fn a_disabled_stack_only_looks_for_drift() {
    let mut world = World::new(|spec| spec.approve_plan = ApprovePlan::Disable);
    world.push("a");
    assert_eq!(world.run().kind, RunKind::Drift);
    world.planned("anything");
    assert_eq!(world.states(), "drifted");
    assert!(world.ask(APPROVE).starts_with("refused: "));
    world.passes(Span::minutes(12));
    assert_eq!(world.states(), "drifted planning");
}

#[test]
fn a_stack_whose_drift_is_not_looked_for_is_left_alone() {
    let mut world = World::applied(|spec| spec.drift.mode = DriftMode::Off);
    world.passes(Span::hours(48));
    assert_eq!(world.states(), "applied");
}

impl World {
    /// A check for drift comes back; which events were published of it.
    fn checked(&mut self, content: &str) -> String {
        let before = self.stack.events;
        self.passes(Span::minutes(12));
        self.planned(content);
        let kind = |pending: &PendingEffect| match &pending.effect {
            Effect::Publish { event } if event.number > before => Some(event.kind),
            _ => None,
        };
        let kinds = self.stack.outbox.iter().filter_map(kind).filter(|kind| *kind != EventKind::RunQueued);
        kinds.map(|kind| format!("{kind:?}")).collect::<Vec<_>>().join(" ")
    }
}

#[test]
fn drift_that_nobody_answers_becomes_critical_once() {
    let mut world = World::applied(|_| {});
    let found: Vec<String> = (0..5).map(|_| world.checked("by hand")).collect();
    assert_eq!(found, ["DriftDetected", "", "DriftEscalated", "", ""]);
    assert_eq!(world.checked(""), "DriftResolved");
    let again: Vec<String> = (0..3).map(|_| world.checked("by hand")).collect();
    assert_eq!(again, ["DriftDetected", "", "DriftEscalated"], "it is counted anew");
    let mut sooner = World::applied(|spec| spec.drift.escalate_after = 1);
    assert_eq!(sooner.checked("by hand"), "DriftDetected DriftEscalated");
}

#[test]
fn ignored_drift_is_told_again_when_that_is_over_and_other_drift_at_once() {
    let mut world = World::applied(|_| {});
    world.checked("by hand");
    let answer = world.ask(Ask::IgnoreDrift { hours: 1 });
    assert!(answer.starts_with("nobody is told of this drift until 2026-11-30T"), "{answer}");
    assert!(world.shown().contains("; ada ignores it until 2026-11-30T"), "{}", world.shown());
    let found: Vec<String> = (0..3).map(|_| world.checked("by hand")).collect();
    assert_eq!(found, ["", "", ""], "neither told nor escalated");
    assert_eq!(world.checked("more by hand"), "DriftDetected DriftEscalated");
    world.checked("");
    assert_eq!(world.checked("by hand"), "DriftDetected", "an hour has passed");
}

#[test]
fn ignored_drift_that_goes_and_comes_back_stays_ignored() {
    let mut world = World::applied(|_| {});
    world.checked("by hand");
    world.ask(Ask::IgnoreDrift { hours: 24 });
    world.checked("");
    assert_eq!(world.checked("by hand"), "");
}

#[test]
fn acknowledged_drift_is_not_escalated_until_it_has_gone_and_come_back() {
    let mut world = World::applied(|_| {});
    world.checked("by hand");
    assert_eq!(
        world.ask(Ask::AcknowledgeDrift),
        "the drift is acknowledged; it is not escalated while it stays the same"
    );
    assert!(world.shown().ends_with("; ada looks after it"), "{}", world.shown());
    let found: Vec<String> = (0..3).map(|_| world.checked("by hand")).collect();
    assert_eq!(found, ["", "", ""]);
    world.checked("");
    let again: Vec<String> = (0..3).map(|_| world.checked("by hand")).collect();
    assert_eq!(again, ["DriftDetected", "", "DriftEscalated"]);
}

#[test]
fn where_no_drift_stands_there_is_nothing_to_answer() {
    let mut world = World::applied(|_| {});
    for ask in [Ask::AcknowledgeDrift, Ask::IgnoreDrift { hours: 24 }] {
        assert!(world.ask(ask).starts_with("refused: no drift stands: Applied successfully"));
    }
}

#[test]
fn a_push_during_a_drift_check_is_planned_when_the_check_has_ended() {
    let mut world = World::applied(|_| {});
    world.passes(Span::minutes(12));
    world.push("b");
    world.planned("by hand");
    assert_eq!(world.states(), "applied drifted planning");
    assert_eq!(world.run().kind, RunKind::Tracked);
}
