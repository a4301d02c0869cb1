//! Bodies and query strings, with problems instead of axum's plain texts where they are malformed.

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;
use yuba_core::id::{RunId, StackName};

use crate::problem::Problem;

/// A JSON body; an empty body counts as `{}`, so that `curl -X POST` works where nothing need be said.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let bytes = axum::body::Bytes::from_request(request, state)
            .await
            .map_err(|rejection| unread(rejection.status(), &rejection.body_text()))?;
        let bytes = if bytes.is_empty() { axum::body::Bytes::from_static(b"{}") } else { bytes };
        match Json::<T>::from_bytes(&bytes) {
            Ok(Json(body)) => Ok(Self(body)),
            Err(rejection) => Err(unread(rejection.status(), &rejection.body_text())),
        }
    }
}

/// A body that is too large (413), no JSON (400), or JSON of another form (422).
fn unread(status: StatusCode, why: &str) -> Problem {
    let help = match status {
        StatusCode::PAYLOAD_TOO_LARGE => format!("at most {} MiB are read", crate::BODY_LIMIT / 1024 / 1024),
        _ => "GET /api/v1/openapi.json describes the body".to_owned(),
    };
    Problem::told(status, format!("body: {why}")).with_help(help)
}

/// The query string.
pub(crate) struct Params<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(params)) => Ok(Self(params)),
            Err(rejection) => Err(Problem::malformed(format!("query string: {}", rejection.body_text()))
                .with_help("GET /api/v1/openapi.json describes the parameters")),
        }
    }
}

/// The stack named by two segments of a path.
pub(crate) fn stack_name((namespace, name): (String, String)) -> StackName {
    StackName::new(namespace, name)
}

/// The run named by a segment of a path.
pub(crate) fn run_id(text: &str) -> Result<RunId, Problem> {
    text.parse().map_err(|error| Problem::malformed(format!("run: {error}")))
}
