//! Events: the list, and as they happen.

use std::convert::Infallible;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event as SseEvent, Sse};
use axum::{Extension, Json};
use futures_util::Stream;
use yuba_core::access::Caller;
use yuba_core::event::Event;
use yuba_core::record::Index;

use super::PageParams;
use super::log::{keep_alive, last_event_id};
use crate::Api;
use crate::auth::visible;
use crate::extract::Params;
use crate::lookup;
use crate::problem::Problem;
use crate::view;
use crate::watch::events::changes;
use crate::wire::{EventItem, List, ProblemBody};

/// Lists events, newest first.
#[utoipa::path(get, path = "/api/v1/events", tag = "events", params(PageParams),
    responses((status = 200, body = List<EventItem>), (status = 400, body = ProblemBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Params(params): Params<PageParams>,
) -> Result<Json<List<EventItem>>, Problem> {
    let query = lookup::newest(Index::Events, params.after()?, params.limit());
    let (events, next) = lookup::values::<Event>(&*api.ports.store, query).await?;
    let events = visible(&api, &caller, events, |event| event.stack).await?;
    Ok(Json(List { items: events.iter().map(view::event).collect(), next: next.map(|cursor| cursor.0) }))
}

/// Sends events as they are published, as server-sent events of their CloudEvents type. `Last-Event-ID` resumes.
#[utoipa::path(get, path = "/api/v1/events/stream", tag = "events",
    params(("Last-Event-ID" = Option<String>, Header)),
    responses((status = 200, description = "Events", content_type = "text/event-stream")))]
pub(crate) async fn stream(
    State(api): State<Api>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<SseEvent, Infallible>>> {
    Sse::new(changes(api, last_event_id(&headers))).keep_alive(keep_alive())
}
