//! Everything that can go wrong with a request, as RFC 9457 has it: what happened, where, what to do.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use yuba_ports::PortError;

use crate::Api;
use crate::wire::ProblemBody;

/// Why a request was not answered as asked.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The caller's.
    Told {
        /// The HTTP status.
        status: StatusCode,
        /// What happened, where.
        detail: String,
        /// What to do about it.
        help: Option<String>,
    },
    /// The server's.
    Unexpected(PortError),
}

impl Problem {
    /// The caller's, under this status.
    pub(crate) fn told(status: StatusCode, detail: impl Into<String>) -> Self {
        Self::Told { status, detail: detail.into(), help: None }
    }

    /// The request is not of the form the API describes.
    pub(crate) fn malformed(detail: impl Into<String>) -> Self {
        Self::told(StatusCode::BAD_REQUEST, detail)
    }

    /// There is no such thing.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::told(StatusCode::NOT_FOUND, detail)
    }

    /// The records already refuse.
    pub(crate) fn refused(detail: impl Into<String>) -> Self {
        Self::told(StatusCode::CONFLICT, detail)
    }

    /// The form is right, the content is not.
    pub(crate) fn unprocessable(detail: impl Into<String>) -> Self {
        Self::told(StatusCode::UNPROCESSABLE_ENTITY, detail)
    }

    /// No token, or a wrong one.
    pub(crate) fn unauthorized() -> Self {
        Self::told(StatusCode::UNAUTHORIZED, "the request carries no valid token").with_help(
            "send `Authorization: Bearer <token>`; `yuba` takes the token from YUBA_TOKEN, or from the file \
             $XDG_STATE_HOME/yuba/<host>_<port> that the server wrote for its own user",
        )
    }

    /// The same with what to do about it.
    pub(crate) fn with_help(self, text: impl Into<String>) -> Self {
        match self {
            Self::Told { status, detail, .. } => Self::Told { status, detail, help: Some(text.into()) },
            Self::Unexpected(error) => Self::Unexpected(error),
        }
    }
}

impl From<yuba_core::access::Denied> for Problem {
    fn from(denied: yuba_core::access::Denied) -> Self {
        Self::told(StatusCode::FORBIDDEN, denied.to_string())
            .with_help("ask an administrator for a token that may: `yuba token create NAME --scope …`")
    }
}

impl From<PortError> for Problem {
    fn from(error: PortError) -> Self {
        Self::Unexpected(error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        match self {
            Self::Told { status, detail, help } => answer(status, detail, help, None),
            Self::Unexpected(error) => {
                let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
                response.extensions_mut().insert(Cause(Arc::new(error)));
                response
            }
        }
    }
}

/// The error beneath an answer that is still to be numbered.
#[derive(Clone)]
struct Cause(Arc<PortError>);

/// Logs unexpected errors once, with an id that the answer shows too.
pub(crate) async fn number_unexpected(State(api): State<Api>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let response = next.run(request).await;
    let Some(Cause(error)) = response.extensions().get::<Cause>() else { return response };
    let id = api.ports.ids.ulid().to_string();
    tracing::error!(%id, %path, error = error.as_ref() as &dyn std::error::Error, "request failed");
    let detail = "the server could not do this; its log says why".to_owned();
    let help = format!("look for {id} in the server's log, or try again");
    answer(StatusCode::INTERNAL_SERVER_ERROR, detail, Some(help), Some(id))
}

fn answer(status: StatusCode, detail: String, help: Option<String>, id: Option<String>) -> Response {
    let title = status.canonical_reason().unwrap_or("Error").to_owned();
    let body = ProblemBody { title, status: status.as_u16(), detail, help, id };
    let mut response = (status, Json(body)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}
