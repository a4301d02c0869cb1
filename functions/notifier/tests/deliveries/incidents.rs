//! What is kept open until it is right again, and statuses that follow a run.

use yuba_core::event::{EventKind, EventSeverity};
use yuba_core::notify::Service;
use yuba_core::run::RunState;
use yuba_core::time::Span;

use crate::world::World;

/// A world in which `on-call` is told of what is wrong, and of nothing else.
async fn on_call() -> World {
    let world = World::bare();
    world.provider("on-call", |spec| spec.service = Service::PagerDuty).await;
    world.alert("on-call", |alert| alert.severity = EventSeverity::Error).await;
    world.secret("on-call", &[("token", "KEY")]);
    world
}

/// What PagerDuty was asked to do, with which incident.
fn asked(world: &World) -> Vec<String> {
    let line = |(_, body): (String, serde_json::Value)| {
        let said = |name: &str| body.get(name).and_then(|held| held.as_str()).unwrap_or_default().to_owned();
        format!("{} {}", said("event_action"), said("dedup_key").rsplit('-').next().unwrap_or_default())
    };
    world.web.bodies().into_iter().map(line).collect()
}

#[tokio::test]
async fn what_is_over_is_told_to_whoever_was_told_of_it_whatever_their_alert_asks_for() {
    let world = on_call().await;
    world.event(EventKind::RunApplied, "Applied successfully: main").await;
    assert_eq!(asked(&world), [""; 0], "nothing was wrong");
    world.event(EventKind::RunFailed, "no access").await;
    world.event(EventKind::DriftDetected, "Drift detected: 1 resource").await;
    world.event(EventKind::RunApplied, "Applied successfully: main").await;
    assert_eq!(asked(&world), ["trigger run", "trigger drift", "resolve run"]);
    world.event(EventKind::RunApplied, "Applied successfully: main").await;
    world.event(EventKind::DriftResolved, "Drift that was found is gone.").await;
    assert_eq!(asked(&world), ["resolve drift"], "each is told to be over once");
}

#[tokio::test]
async fn what_is_wrong_again_within_five_minutes_is_told_again() {
    let world = on_call().await;
    for _ in 0..2 {
        world.event(EventKind::RunFailed, "no access").await;
        world.event(EventKind::StackRecovered, "The check that failed before went well.").await;
    }
    assert_eq!(asked(&world), ["trigger run", "resolve run", "trigger run", "resolve run"]);
}

#[tokio::test]
async fn the_end_of_what_could_not_be_told_yet_is_told_after_it() {
    let world = on_call().await;
    world.web.answers(503, "");
    world.event(EventKind::RunFailed, "no access").await;
    world.event(EventKind::RunUnchanged, "Plan no changes.").await;
    assert_eq!(asked(&world), ["trigger run"]);
    world.passes(Span::minutes(1), "on-call").await;
    assert_eq!(asked(&world), ["trigger run", "resolve run"]);
}

#[tokio::test]
async fn an_issue_is_looked_for_and_then_written() {
    let world = World::bare();
    world
        .provider("tracker", |spec| {
            spec.service = Service::Jira;
            (spec.channel, spec.address) = (Some("OPS".to_owned()), Some("https://jira.example".to_owned()));
        })
        .await;
    world.alert("tracker", |alert| alert.severity = EventSeverity::Error).await;
    world.secret("tracker", &[("token", "pat")]);
    world.web.answers(200, r#"{"issues":[]}"#);
    world.web.answers(201, r#"{"key":"OPS-1"}"#);
    world.event(EventKind::DriftDetected, "Drift detected: 1 resource").await;
    let sent: Vec<String> = world.web.bodies().into_iter().map(|(url, _)| url).collect();
    assert_eq!(sent, ["https://jira.example/rest/api/2/search", "https://jira.example/rest/api/2/issue"]);
    assert_eq!(world.pending("tracker").await, []);
}

#[tokio::test]
async fn a_commit_status_follows_its_run_whatever_its_alert_asks_for() {
    let mut world = World::bare();
    world
        .provider("commits", |spec| {
            spec.service = Service::GitHub;
            spec.address = Some("https://github.com/acme/infra".to_owned());
        })
        .await;
    world.alert("commits", |_| ()).await;
    world.secret("commits", &[("token", "ghp_1")]);
    world.event(EventKind::ApprovalRequested, "A plan waits for approval.").await;
    world.event(EventKind::PlanDecided, "Ada approved it.").await;
    world.stands(RunState::Applied, |_, _| ()).await;
    world.event(EventKind::RunApplied, "Applied successfully: main").await;
    let sent = world.web.bodies();
    let states: Vec<&str> = sent.iter().filter_map(|(_, body)| body["state"].as_str()).collect();
    assert_eq!(states, ["pending", "success"], "what has not changed is not sent");
    assert!(sent.iter().all(|(url, _)| url.contains("/repos/acme/infra/statuses/")), "{sent:?}");
}
