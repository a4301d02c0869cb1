//! What Slack is answered. It shows people little of it; its log of the app shows the rest.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::json;
use ulid::Ulid;
use yuba_core::slack::modal::INPUT;
use yuba_core::slack::payload::UnreadablePayload;
use yuba_core::slack::text::Mrkdwn;

use crate::signature::Unverified;

/// What became of a request.
#[derive(Debug)]
pub(crate) enum Answer {
    /// Stored, or nothing follows from it.
    Taken,
    /// The modal stays open, and says this beside its input.
    WrongInput(String),
    /// Shown to whoever gave a slash command, and to nobody else.
    Told(Mrkdwn),
    /// Not believed.
    Unverified(Unverified),
    /// Believed, and not readable.
    Unreadable(UnreadablePayload),
    /// Larger than is read.
    TooLarge,
    /// The body broke off.
    BrokenOff(String),
    /// It could not be stored, or the modal could not be opened; the log has the reason under this id.
    Failed(Ulid),
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let error = |text: String| Json(json!({ "error": text }));
        match self {
            // Slack takes a body for something to show; there is nothing.
            Self::Taken => StatusCode::OK.into_response(),
            Self::WrongInput(why) => {
                Json(json!({ "response_action": "errors", "errors": { INPUT: why } })).into_response()
            }
            Self::Told(text) => Json(json!({ "response_type": "ephemeral", "text": text })).into_response(),
            Self::Unverified(why) => (StatusCode::UNAUTHORIZED, error(why.to_string())).into_response(),
            Self::Unreadable(why) => (StatusCode::BAD_REQUEST, error(why.to_string())).into_response(),
            Self::TooLarge => {
                let text = "the body is larger than 1 MiB; Slack sends none that is";
                (StatusCode::PAYLOAD_TOO_LARGE, error(text.to_owned())).into_response()
            }
            Self::BrokenOff(why) => {
                (StatusCode::BAD_REQUEST, error(format!("the body broke off: {why}"))).into_response()
            }
            Self::Failed(id) => {
                let text = format!("it could not be carried out; try again (the log has the reason: {id})");
                (StatusCode::SERVICE_UNAVAILABLE, error(text)).into_response()
            }
        }
    }
}
