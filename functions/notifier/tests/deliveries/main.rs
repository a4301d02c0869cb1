//! From an event to what is sent, over ports in memory.

mod incidents;
mod trouble;
mod world;

use yuba_core::event::{EventKind, EventSeverity};
use yuba_core::notify::{NoticeState, Service};
use yuba_core::run::RunState;
use yuba_core::stack::DriftState;
use yuba_core::time::Span;

use world::World;

const ASKS: EventKind = EventKind::ApprovalRequested;

#[tokio::test]
async fn a_run_is_one_message_that_goes_on_to_show_how_the_run_stands() {
    let mut world = World::new().await;
    world.event(ASKS, "A plan waits for approval.").await;
    assert_eq!(world.web.sent(), ["chat.postMessage: infra/network-prod: a plan waits for approval"]);
    world.stands(RunState::Applied, |_, _| ()).await;
    // The alert asks for what is wrong or waits: this event is neither, and the message is edited all the same.
    world.event(EventKind::RunApplied, "Applied successfully: main").await;
    assert_eq!(world.web.sent(), ["chat.update 1.0: infra/network-prod: applied"]);
    world.event(EventKind::RunDropped, "x").await;
    assert_eq!(world.web.sent(), [""; 0], "what has ended is shown for good");
}

#[tokio::test]
async fn an_event_that_comes_late_paints_no_old_truth() {
    let mut world = World::new().await;
    world.publish(ASKS, "A plan waits for approval.").await;
    world.stands(RunState::Applied, |_, _| ()).await;
    world.event(EventKind::RunApplied, "Applied successfully: main").await;
    assert_eq!(world.web.sent(), ["chat.postMessage: infra/network-prod: applied"]);
    assert_eq!((world.pending("chat").await.len(), world.settled("chat").await.len()), (0, 2));
}

#[tokio::test]
async fn an_edit_whose_answer_is_lost_is_made_again_though_the_run_is_back_where_it_was() {
    let mut world = World::new().await;
    world.event(ASKS, "A plan waits for approval.").await;
    world.stands(RunState::Applying, |_, _| ()).await;
    world.web.answers(504, "");
    world.event(EventKind::ApplyStarted, "The apply was started.").await;
    world.stands(RunState::AwaitingApproval, |_, _| ()).await;
    world.web.sent();
    world.passes(Span::minutes(1), "chat").await;
    assert_eq!(world.web.sent(), ["chat.update 1.0: infra/network-prod: a plan waits for approval"]);
}

#[tokio::test]
async fn whoever_was_overtaken_while_it_sent_has_the_message_drawn_again() {
    let mut world = World::new().await;
    world.event(ASKS, "A plan waits for approval.").await;
    world.stands(RunState::Applying, |_, _| ()).await;
    world.web.answers(503, "");
    world.event(EventKind::ApplyStarted, "The apply was started.").await;
    world.memory.clock.advance(Span::minutes(1));
    world.is_overtaken("chat", "newer").await;
    world.web.sent();
    world.stands(RunState::Applied, |_, _| ()).await;
    world.passes(Span::minutes(1), "chat").await;
    assert_eq!(world.web.sent(), ["chat.update 1.0: infra/network-prod: applied"]);
}

#[tokio::test]
async fn an_event_that_comes_twice_is_told_once() {
    let world = World::new().await;
    world.event(EventKind::EffectFailed, "no task").await;
    assert_eq!(world.web.sent(), ["chat.postMessage: infra/network-prod: effect failed"]);
    world.memory.clock.advance(Span::hours(1));
    world.tell(world.run.stack, 1).await;
    world.work().await;
    assert_eq!(world.web.sent(), [""; 0]);
}

#[tokio::test]
async fn the_same_is_not_said_again_within_five_minutes() {
    let world = World::new().await;
    for message in ["no task", "no task", "another task"] {
        world.event(EventKind::EffectFailed, message).await;
    }
    assert_eq!(world.web.sent().len(), 2);
    world.memory.clock.advance(Span::minutes(5));
    world.event(EventKind::EffectFailed, "no task").await;
    assert_eq!(world.web.sent().len(), 1);
}

#[tokio::test]
async fn drift_that_is_gone_is_shown_in_the_message_that_told_of_it() {
    let mut world = World::new().await;
    let drifted = |stack: &mut yuba_core::stack::Stack, run: &mut yuba_core::run::Run| {
        let content = run.plan.as_ref().unwrap().report.content;
        let (since, resources) = (run.created_at, 1);
        stack.drift =
            Some(DriftState { run: run.id, since, resources, content, checks: 1, escalated: false });
    };
    world.stands(RunState::Drifted, drifted).await;
    world.event(EventKind::DriftDetected, "Drift detected: 1 resource").await;
    assert_eq!(world.web.sent().len(), 1);
    world.run.id = yuba_core::id::RunId(ulid::Ulid(77));
    world.stands(RunState::Applied, |_, _| ()).await;
    world.event(EventKind::DriftResolved, "Drift that was found is gone.").await;
    assert_eq!(world.web.sent(), ["chat.update 1.0: infra/network-prod: drift that was found is gone"]);
}

#[tokio::test]
async fn providers_that_send_nothing_are_told_nothing() {
    let world = World::bare();
    world.provider("off", |spec| spec.suspend = true).await;
    world.provider("later", |spec| spec.service = Service::Other("telegram".to_owned())).await;
    for name in ["off", "later", "missing"] {
        world.alert(name, |_| ()).await;
    }
    world.event(ASKS, "A plan waits for approval.").await;
    for name in ["off", "later", "missing"] {
        assert_eq!((world.pending(name).await, world.settled(name).await), (vec![], vec![]), "{name}");
    }
}

#[tokio::test]
async fn an_incoming_webhook_and_a_program_are_sent_each_event_that_was_chosen() {
    let mut world = World::bare();
    world.provider("hook", |spec| spec.address = Some("https://hooks.slack.com/services/x".to_owned())).await;
    world
        .provider("program", |spec| {
            spec.service = Service::Generic;
            spec.address = Some("https://h/in".to_owned());
        })
        .await;
    for name in ["hook", "program"] {
        world.alert(name, |_| ()).await;
        world.secret(name, &[("other", "x")]);
    }
    world.alert("program", |alert| alert.severity = EventSeverity::Info).await;
    world.event(ASKS, "A plan waits for approval.").await;
    world.stands(RunState::Applied, |_, _| ()).await;
    world.event(EventKind::RunApplied, "Applied successfully: main").await;
    assert_eq!(
        world.web.sent(),
        [
            "x: infra/network-prod: a plan waits for approval",
            "in: A plan waits for approval.",
            "in: Applied successfully: main",
        ]
    );
    let sent = world.settled("hook").await;
    assert!(
        sent.iter().all(|notification| matches!(notification.state, NoticeState::Sent { .. })),
        "{sent:?}"
    );
}
