//! Logs of runs: as they stand, and as they grow.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;

use crate::Api;
use crate::extract::run_id;
use crate::lookup;
use crate::problem::Problem;
use crate::watch::log::{follow, whole_log};
use crate::wire::ProblemBody;

/// Shows the log of a run: all its attempts, oldest first, as far as they have come.
#[utoipa::path(get, path = "/api/v1/runs/{run}/log", tag = "runs", params(("run" = String, Path)),
    responses((status = 200, body = String, content_type = "text/plain"), (status = 404, body = ProblemBody)))]
pub(crate) async fn text(State(api): State<Api>, Path(run): Path<String>) -> Result<Response, Problem> {
    let run = lookup::run(&*api.ports.store, run_id(&run)?).await?;
    let log = whole_log(&*api.ports.blobs, &run).await?;
    Ok(([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], log).into_response())
}

/// Follows a run as server-sent events until it ends: `log` (a JSON string), `state` (a run), `progress`, `end`.
/// `Last-Event-ID` resumes after a piece of the log.
#[utoipa::path(get, path = "/api/v1/runs/{run}/log/stream", tag = "runs",
    params(("run" = String, Path), ("Last-Event-ID" = Option<String>, Header)),
    responses((status = 200, description = "Events", content_type = "text/event-stream"),
        (status = 404, body = ProblemBody)))]
pub(crate) async fn stream(
    State(api): State<Api>,
    Path(run): Path<String>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let run = lookup::run(&*api.ports.store, run_id(&run)?).await?;
    Ok(Sse::new(follow(api, &run, last_event_id(&headers))).keep_alive(keep_alive()))
}

/// Where a client that lost its connection wants to go on.
pub(crate) fn last_event_id(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id")?.to_str().ok()
}

/// A comment every ten seconds, so that proxies keep the connection.
pub(crate) fn keep_alive() -> KeepAlive {
    KeepAlive::new().interval(Duration::from_secs(10))
}
