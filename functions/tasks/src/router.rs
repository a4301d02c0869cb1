//! The routes.

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::post;

use crate::state::TasksState;
use crate::{claim, credentials, heartbeat, report};

/// The greatest body that is read: a report carries at most a failure's detail and a few hundred output names.
const BODY_LIMIT: usize = 1024 * 1024;

/// `POST /tasks/claim`, `POST /tasks/heartbeat`, `POST /tasks/credentials`, `POST /tasks/report`.
pub fn router(state: TasksState) -> Router {
    Router::new()
        .route("/tasks/claim", post(claim::claim))
        .route("/tasks/heartbeat", post(heartbeat::heartbeat))
        .route("/tasks/credentials", post(credentials::credentials))
        .route("/tasks/report", post(report::report))
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .with_state(state)
}
