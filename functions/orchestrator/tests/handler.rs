//! From a message to its effects, over ports in memory.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod world;

use secrecy::ExposeSecret;
use yuba_core::attempt::AttemptReport;
use yuba_core::audit::AuditAction;
use yuba_core::effect::Effect;
use yuba_core::event::EventKind;
use yuba_core::id::{SecretName, StackName};
use yuba_core::job::{attempt_prefix, object};
use yuba_core::measured::Measured;
use yuba_core::record::{Edge, Key};
use yuba_core::run::RunState;
use yuba_core::spec::{ApprovePlan, ValuesKind, WriteOutputs};
use yuba_core::state_address::CodeBackend;
use yuba_core::time::Span;
use yuba_ports::records::put_any;
use yuba_ports::{Blobs, PutMode, Secrets, Store, TaskStatus};

use world::{World, state};

#[tokio::test]
async fn a_first_observation_starts_one_task_and_publishes_one_event() {
    let world = World::new(|_| {}).await;
    world.observed("a").await;
    world.observed("a").await;
    assert_eq!(world.memory.launcher.started().len(), 1);
    let kinds: Vec<EventKind> = world.memory.publisher.published().iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::RunQueued]);
    assert_eq!(world.stack().await.outbox, [], "what was done is struck");
}

#[tokio::test]
async fn a_task_without_room_waits_in_the_outbox_and_is_started_when_there_is_some() {
    let world = World::new(|_| {}).await;
    world.memory.launcher.set_no_room(Some(Span::seconds(5)));
    world.observed("a").await;
    let outbox = world.stack().await.outbox;
    assert!(matches!(outbox[0].effect, Effect::StartTask { .. }));
    assert_eq!(outbox[0].trouble.as_deref(), Some("no room for another task now"));
    world.memory.launcher.set_no_room(None);
    world.passes(Span::seconds(6)).await;
    assert_eq!(world.memory.launcher.started().len(), 1);
    assert_eq!(world.run().await.state, RunState::Planning);
}

#[tokio::test]
async fn a_task_that_a_cap_holds_back_is_started_as_soon_as_it_is_woken_for_room() {
    let world = World::new(|_| {}).await;
    world.capped_at(1);
    world.other_holds_a_slot().await;
    world.observed("a").await;
    let outbox = world.stack().await.outbox;
    let why = outbox[0].trouble.as_deref();
    assert_eq!(why, Some("waits for room: the installation's cap of 1 at once is reached"));
    assert_eq!(world.memory.launcher.started().len(), 0);
    world.other_reports().await;
    assert_eq!(world.memory.launcher.started().len(), 1, "long before it would have asked again by itself");
    assert_eq!(world.stack().await.outbox, []);
}

#[tokio::test]
async fn a_lost_race_is_decided_again() {
    let world = World::new(|_| {}).await;
    world.race();
    world.observed("a").await;
    assert_eq!(world.races(), 1, "another writer came first once");
    assert_eq!(world.memory.launcher.started().len(), 1);
}

#[tokio::test]
async fn what_the_manifest_forbids_meanwhile_is_not_applied() {
    let world = World::new(|spec| spec.approve_plan = ApprovePlan::Auto).await;
    world.observed("a").await;
    world.edits_meanwhile(|spec| spec.approve_plan = ApprovePlan::Manual).await;
    world.planned().await;
    assert_eq!(world.run().await.state, RunState::AwaitingApproval);
}

#[tokio::test]
async fn a_task_that_stopped_without_a_report_is_replaced() {
    let world = World::new(|_| {}).await;
    world.observed("a").await;
    let attempt = world.memory.launcher.started()[0].attempt;
    world.memory.launcher.set_status(attempt, TaskStatus::Stopped { how: "signal 9".to_owned() });
    world.passes(Span::seconds(31)).await;
    let started: Vec<u32> =
        world.memory.launcher.started().iter().map(|start| start.attempt.number).collect();
    assert_eq!(started, [1, 2]);
}

#[tokio::test]
async fn what_ends_is_measured_by_the_records_times() {
    let world = World::new(|_| {}).await;
    let apply = world.planned_and_approved("a").await;
    world.memory.clock.advance(Span::seconds(7));
    let applied = AttemptReport::Applied { outputs: Vec::new(), resources: 1, notices: Vec::new() };
    let measured = world.reports(applied).await.measured;
    assert_eq!(
        (measured.runs, measured.phases),
        (vec![RunState::Applied], vec![(apply.phase, Span::seconds(7))])
    );
}

#[tokio::test]
async fn a_claim_without_a_report_is_measured_while_nothing_is_heard_of_it() {
    let world = World::new(|_| {}).await;
    world.observed("a").await;
    world.claims().await;
    assert_eq!(world.passes(Span::minutes(4)).await.measured, Measured::default());
    assert_eq!(world.passes(Span::minutes(4)).await.measured.silence, Some(Span::minutes(8)));
}

#[tokio::test]
async fn outputs_are_written_and_their_readers_and_the_dependants_woken() {
    let secret = SecretName::new("infra", "out");
    let write = WriteOutputs { name: secret.clone(), outputs: Vec::new() };
    let world = World::new(|spec| spec.write_outputs = Some(write)).await;
    let name = StackName::new("infra", "reader");
    let edges =
        [Key::reader(&secret, world.other), Key::dependant(&StackName::new("infra", "network"), world.other)];
    for at in edges {
        let edge = put_any(&Edge { at, stack: world.other, name: name.clone() }).unwrap();
        world.memory.store.commit(vec![edge]).await.unwrap();
    }
    let apply = world.planned_and_approved("a").await;
    let outputs = br#"{"vpc_id": {"value": "vpc-1", "type": "string", "sensitive": false}}"#;
    let key = format!("{}{}", attempt_prefix(world.id, apply), object::OUTPUTS);
    world.memory.blobs.put(&key, outputs, PutMode::Replace).await.unwrap();
    world
        .reports(AttemptReport::Applied {
            outputs: vec!["vpc_id".to_owned()],
            resources: 1,
            notices: Vec::new(),
        })
        .await;
    let written = world.memory.secrets.get(ValuesKind::Secret, &secret).await.unwrap().unwrap();
    assert_eq!(written.values["vpc_id"].expose_secret(), "vpc-1");
    let woken: Vec<String> =
        world.memory.queue.pending().iter().map(yuba_core::message::Message::deduplication_id).collect();
    assert!(woken.iter().any(|id| id.contains("#values#Secret infra/out#")), "{woken:?}");
    assert!(woken.iter().any(|id| id.contains("#dependency#")), "{woken:?}");
}

#[tokio::test]
async fn another_stack_with_the_same_state_is_found_by_the_address() {
    let world = World::new(|_| {}).await;
    world.twin(state()).await;
    world.observed("a").await;
    let stack = world.stack().await;
    assert_eq!(stack.shares_state_with, Some(StackName::new("infra", "twin")));
    let kinds: Vec<EventKind> = world.memory.publisher.published().iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [EventKind::StateShared, EventKind::RunQueued]);
}

#[tokio::test]
async fn an_edge_that_is_left_over_means_nothing() {
    let world = World::new(|_| {}).await;
    world.twin(state()).await;
    world.twin(CodeBackend::Unseen).await;
    world.observed("a").await;
    assert_eq!(world.stack().await.shares_state_with, None);
}

#[tokio::test]
async fn a_stack_that_nobody_defined_is_reported_and_left() {
    let world = World::new(|_| {}).await;
    let handled = world.wake_other().await;
    assert_eq!(handled.report, [format!("no record names stack {}", world.other)]);
}

#[tokio::test]
async fn notice_of_a_trouble_is_given_once_until_it_is_over() {
    let world = World::new(|_| {}).await;
    world.observed("a").await;
    world.fails().await;
    let trouble = world.trouble().await;
    world.many_have(&trouble).await;
    for _ in 0..2 {
        world.passes(Span::minutes(6)).await;
        assert_eq!((world.notices(), world.is_noticed(&trouble).await), (1, true));
        world.fails().await;
    }
    world.passes(Span::minutes(6)).await;
    world.planned().await;
    assert!(!world.is_noticed(&trouble).await, "it is over");
}

#[tokio::test]
async fn a_notice_that_cannot_be_taken_away_now_is_taken_away_later() {
    let world = World::new(|_| {}).await;
    world.observed("a").await;
    world.fails().await;
    let trouble = world.trouble().await;
    world.many_have(&trouble).await;
    world.passes(Span::minutes(6)).await;
    world.keeps_notices(Some("trouble-notice"));
    world.planned().await;
    assert!(world.is_noticed(&trouble).await, "the store refused");
    world.keeps_notices(None);
    world.passes(Span::minutes(1)).await;
    assert!(!world.is_noticed(&trouble).await, "it is over");
}

#[tokio::test]
async fn stacks_that_vanished_make_no_trouble_of_many() {
    let world = World::new(|_| {}).await;
    world.observed("a").await;
    world.fails().await;
    let trouble = world.trouble().await;
    world.many_have(&trouble).await;
    world.others_vanish(2).await;
    world.passes(Span::minutes(6)).await;
    assert_eq!((world.notices(), world.run().await.state), (0, RunState::Planning));
}

#[tokio::test]
async fn of_two_stacks_that_would_give_notice_at_once_one_does() {
    let world = World::new(|_| {}).await;
    world.observed("a").await;
    world.fails().await;
    let trouble = world.trouble().await;
    world.many_have(&trouble).await;
    world.other_gives_notice_meanwhile(&trouble);
    world.passes(Span::minutes(6)).await;
    assert_eq!((world.notices(), world.run().await.state), (0, RunState::Planning));
}

#[tokio::test]
async fn a_trouble_that_is_cleared_twice_takes_no_later_notice_away() {
    let world = World::new(|_| {}).await;
    world.observed("a").await;
    world.fails().await;
    let (trouble, run) = (world.trouble().await, world.run().await.id);
    world.passes(Span::minutes(6)).await;
    world.planned().await;
    world.many_have(&trouble).await;
    world.other_gives_notice(&trouble).await;
    world.redoes(Effect::ClearTrouble { signature: trouble.clone(), run }).await;
    assert!(world.is_noticed(&trouble).await);
}

#[tokio::test]
async fn an_apply_and_its_entry_in_the_audit_trail_are_written_together_and_once() {
    let world = World::new(|spec| spec.approve_plan = ApprovePlan::Auto).await;
    world.observed("a").await;
    assert_eq!(world.trail().await, [], "nothing was decided yet");
    world.race();
    world.planned().await;
    world.passes(Span::minutes(1)).await;
    let (trail, stack) = (world.trail().await, world.stack().await);
    assert_eq!(trail.iter().map(|entry| entry.deed.action).collect::<Vec<_>>(), [AuditAction::ApplyStarted]);
    assert_eq!(stack.audit.map(|head| (head.number, head.hash)), Some((1, trail[0].hash)));
    assert_eq!(world.races(), 1, "another writer came first once");
}
