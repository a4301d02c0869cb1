//! Bodies and query strings, with problems instead of axum's plain texts where they are malformed.

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
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
            .map_err(|rejection| Problem::malformed(format!("body: {rejection}")))?;
        let bytes = if bytes.is_empty() { axum::body::Bytes::from_static(b"{}") } else { bytes };
        match Json::<T>::from_bytes(&bytes) {
            Ok(Json(body)) => Ok(Self(body)),
            Err(rejection) => Err(Problem::unprocessable(format!("body: {}", rejection.body_text()))
                .with_help("GET /api/v1/openapi.json describes the body")),
        }
    }
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
