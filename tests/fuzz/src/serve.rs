//! Asks a function's router, as a server would.

use axum::Router;
use axum::body::{Body, to_bytes};
use http::{Request, StatusCode};
use serde_json::Value;
use tower::ServiceExt;

/// The status, and the body, which is JSON in every answer.
pub(crate) fn ask(router: Router, request: Request<Body>) -> (StatusCode, Value) {
    waited_for(async {
        let answer = router.oneshot(request).await.expect("a router always answers");
        let status = answer.status();
        let body = to_bytes(answer.into_body(), usize::MAX).await.expect("a body in memory can be read");
        (status, serde_json::from_slice(&body).expect("an answer is JSON"))
    })
}

/// The value of a future.
pub(crate) fn waited_for<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime needs nothing");
    runtime.block_on(future)
}
