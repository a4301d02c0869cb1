//! Streams: a run's log as it grows, and events as they are published; both resume.

use axum::body::{Body, BodyDataStream};
use axum::http::Request;
use futures_util::StreamExt;
use tower::ServiceExt;
use yuba_api::router;
use yuba_core::event::{Event, EventKind};
use yuba_core::job::object;
use yuba_core::time::{Span, Timestamp};
use yuba_ports::Clock;

use crate::kit::{STACK, World};

fn request(path: &str, last: Option<&str>) -> Request<Body> {
    let request = Request::get(path).header("authorization", "Bearer secret");
    let request = last.into_iter().fold(request, |request, last| request.header("last-event-id", last));
    request.body(Body::empty()).unwrap()
}

/// The lines of a stream that ends by itself, without empty ones.
async fn lines(world: &World, path: &str, last: Option<&str>) -> Vec<String> {
    let (_, text) = world.answer(request(path, last)).await;
    text.lines().filter(|line| !line.is_empty() && !line.starts_with(':')).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_log_is_streamed_piece_by_piece_until_its_run_ends() {
    let world = World::new().await;
    let run = world.run(|_| {}).await;
    let piece = |number: u32| format!("{}{number:06}", object::LOG_PIECES);
    world.object(&run, 0, &piece(1), "planning\n").await;
    world.object(&run, 0, &piece(2), "planned\n").await;
    world.object(&run, 1, object::LOG, "applied\n").await;
    let path = format!("/api/v1/runs/{}/log/stream", run.id);
    let whole = lines(&world, &path, None).await;
    let data = |line: &&String| line.starts_with("data: \"");
    let logged: Vec<&String> = whole.iter().filter(data).collect();
    assert_eq!(logged.len(), 5, "{whole:?}");
    assert!(whole.iter().rev().nth(1).unwrap().contains("event: end"), "{whole:?}");
    let resumed = lines(&world, &path, Some("0:000001")).await;
    let logged: Vec<&String> = resumed.iter().filter(data).collect();
    assert_eq!(logged.first().unwrap().as_str(), r#"data: "planned\n""#);
    assert!(!resumed.iter().any(|line| line.contains("planning")), "{resumed:?}");
    let (_, text) = world.get(&format!("/api/v1/runs/{}/log", run.id)).await;
    assert_eq!(text, "── plan 1 ──\nplanning\nplanned\n── apply 1 ──\napplied\n");
}

fn event(number: u64, at: Timestamp) -> Event {
    let golden = include_str!("../../../../shared/core/tests/golden/event.v1.json");
    Event { stack: STACK, number, at, kind: EventKind::RunApplied, ..serde_json::from_str(golden).unwrap() }
}

/// The ids of the next events of a stream that never ends.
async fn ids(stream: &mut BodyDataStream, count: usize) -> Vec<String> {
    let mut ids = Vec::new();
    while ids.len() < count {
        let frame = String::from_utf8(stream.next().await.unwrap().unwrap().to_vec()).unwrap();
        ids.extend(frame.lines().filter_map(|line| line.strip_prefix("id: ")).map(str::to_owned));
    }
    ids
}

#[tokio::test]
async fn events_are_streamed_from_now_on_and_resumed_after_the_last_one_seen() {
    let world = World::new().await;
    let now = world.memory.clock.now();
    world.put(&event(1, Timestamp(now.0 - 1000))).await;
    let open = async |last: Option<&str>| {
        let response = router(world.api()).oneshot(request("/api/v1/events/stream", last)).await.unwrap();
        response.into_body().into_data_stream()
    };
    let mut live = open(None).await;
    for number in [2, 3] {
        world.put(&event(number, now + Span::seconds(i64::try_from(number).unwrap()))).await;
    }
    let seen = ids(&mut live, 2).await;
    assert!(seen.iter().zip(["-2", "-3"]).all(|(id, end)| id.ends_with(end)), "{seen:?}");
    let mut resumed = open(seen.first().map(String::as_str)).await;
    assert_eq!(ids(&mut resumed, 1).await, seen.get(1..).unwrap());
}
