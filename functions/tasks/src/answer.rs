//! Refusals and errors as the task reads them: a status and `{"error": "…"}`.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use yuba_core::attempt::AttemptState;
use yuba_core::id::AttemptId;
use yuba_ports::{PortError, Remedy};

/// Why a task does not get what it asked for.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// 401: the token is not one, or of another attempt or use.
    Token,
    /// 400, 413, 415: the body cannot be read.
    Body(JsonRejection),
    /// 400: the body is of a schema that this version does not read.
    Schema(u32),
    /// 409: there is no such attempt.
    Unknown(AttemptId),
    /// 409: the attempt is not where this step starts.
    State(AttemptId, AttemptState),
    /// 409: new applies are stopped.
    Paused,
    /// 409: the attempt could not begin, and was reported as failed.
    CannotBegin(String),
    /// 500, 503: something beneath failed.
    Port(PortError),
}

impl From<PortError> for Refusal {
    fn from(error: PortError) -> Self {
        Self::Port(error)
    }
}

impl From<JsonRejection> for Refusal {
    fn from(rejection: JsonRejection) -> Self {
        Self::Body(rejection)
    }
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::Token => StatusCode::UNAUTHORIZED,
            Self::Body(rejection) => rejection.status(),
            Self::Schema(_) => StatusCode::BAD_REQUEST,
            Self::Unknown(_) | Self::State(..) | Self::Paused | Self::CannotBegin(_) => StatusCode::CONFLICT,
            Self::Port(error) if error.remedy == Remedy::Permanent => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Port(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Token => "the token does not belong to this attempt and use".to_owned(),
            Self::Body(rejection) => rejection.body_text(),
            Self::Schema(schema) => format!("schema {schema} is not read here; 1 is"),
            Self::Unknown(attempt) => format!("there is no attempt {attempt}"),
            Self::State(attempt, AttemptState::Issued) => format!("attempt {attempt} was not claimed"),
            Self::State(attempt, AttemptState::Claimed) => format!("attempt {attempt} is claimed already"),
            Self::State(attempt, AttemptState::Reported) => format!("attempt {attempt} has reported already"),
            Self::State(attempt, AttemptState::Closed) => format!("attempt {attempt} is closed"),
            Self::Paused => "new applies are paused".to_owned(),
            Self::CannotBegin(why) => format!("the attempt cannot begin: {why}"),
            Self::Port(error) => error.what.clone(),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        if let Self::Port(error) = &self {
            let beneath = error.source.as_ref().map(ToString::to_string).unwrap_or_default();
            tracing::error!(what = %error.what, beneath, "a task could not be served");
        }
        (self.status(), Json(json!({ "error": self.message() }))).into_response()
    }
}

/// The current schema, or a refusal.
pub(crate) fn check_schema(schema: u32) -> Result<(), Refusal> {
    if schema == 1 { Ok(()) } else { Err(Refusal::Schema(schema)) }
}
