//! Serves HTTP: the very routes of `yuba serve`, behind a Function URL. What a Function URL cannot carry, 6 MB and more of
//! a request or of an answer that is not streamed, it refuses by itself.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::middleware::{Next, from_fn_with_state, map_response};
use axum::response::Response;
use futures_util::StreamExt;
use tokio::time::{Instant, sleep};
use tracing::Instrument;
use yuba_core::time::Span;

use super::Error;
use super::metrics::{Metric, Metrics};
use crate::trace::{TRACEPARENT, TraceContext};

/// How long server-sent events go on. Their readers come again, and say where they were.
const LONGEST_EVENTS: Duration = Duration::from_mins(1);

/// Serves routes until the environment is taken away. An answer is sent whole.
pub async fn http(routes: Router, metrics: &Metrics) -> Result<(), Error> {
    lambda_http::run(observed(routes, metrics)).await
}

/// Serves routes until the environment is taken away. Answers are streamed; server-sent events end after a minute.
pub async fn http_streaming(routes: Router, metrics: &Metrics) -> Result<(), Error> {
    let ended = async |response| ending(response, LONGEST_EVENTS);
    lambda_http::run_with_streaming_response(observed(routes, metrics).layer(map_response(ended))).await
}

/// Routes with a span for each request, within the sender's trace, and a metric of how long it took.
pub(super) fn observed(routes: Router, metrics: &Metrics) -> Router {
    routes.layer(from_fn_with_state(metrics.clone(), observe))
}

async fn observe(State(metrics): State<Metrics>, request: Request, next: Next) -> Response {
    let sent = request.headers().get(TRACEPARENT).and_then(|value| value.to_str().ok());
    let trace = sent.and_then(TraceContext::parse).map_or_else(TraceContext::begin, TraceContext::next);
    let (method, path) = (request.method(), request.uri().path());
    let span = tracing::info_span!("request", %method, path, trace = trace.id());
    let begun = Instant::now();
    let response = trace.scope(next.run(request)).instrument(span.clone()).await;
    let took = begun.elapsed();
    span.in_scope(|| tracing::info!(status = response.status().as_u16(), ?took, "answered"));
    let took = Span(i64::try_from(took.as_millis()).unwrap_or(i64::MAX));
    metrics.put(&[Metric::time("RequestTime", took)]);
    response
}

/// The response; of server-sent events, those of a while. A client of them comes again by itself, and names the last that
/// it had. <https://html.spec.whatwg.org/multipage/server-sent-events.html>
fn ending(response: Response, after: Duration) -> Response {
    let kind = response.headers().get(CONTENT_TYPE);
    if !kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream")) {
        return response;
    }
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(Box::pin(sleep(after)))))
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use axum::routing::get;
    use futures_util::stream;

    use super::*;

    /// One piece, and then nothing, for ever.
    fn endless(kind: &'static str) -> Response {
        let pieces = stream::iter([Ok::<_, Error>("data: 1\n\n")]).chain(stream::pending());
        Response::builder().header(CONTENT_TYPE, kind).body(Body::from_stream(pieces)).unwrap()
    }

    #[tokio::test]
    async fn events_end_after_a_while_and_nothing_else_does() {
        let short = Duration::from_millis(20);
        let events = ending(endless("text/event-stream"), short).into_body();
        assert_eq!(to_bytes(events, 100).await.unwrap(), "data: 1\n\n");
        let mut log = ending(endless("text/plain"), short).into_body().into_data_stream();
        assert!(log.next().await.is_some());
        let longer = tokio::time::timeout(short * 5, log.next());
        assert!(longer.await.is_err(), "what is no event is not cut");
    }

    #[tokio::test]
    async fn a_request_goes_on_in_its_trace() {
        let metrics = Metrics::new(&yuba_core::id::InstallationId("prod".to_owned()), "webhook");
        let id = async || TraceContext::current().map(TraceContext::id).unwrap_or_default();
        let mut routes = observed(Router::new().route("/", get(id)), &metrics);
        let sent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let request = Request::builder().header(TRACEPARENT, sent).body(Body::empty()).unwrap();
        let response = lambda_http::Service::call(&mut routes, request).await.unwrap();
        assert_eq!(to_bytes(response.into_body(), 100).await.unwrap(), sent[3..35]);
    }
}
