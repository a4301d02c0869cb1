//! What senders are told. They show it in the webhook's log, so it says what to do.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use ulid::Ulid;
use yuba_core::id::DeliveryId;
use yuba_core::message::Wake;
use yuba_git::webhook::{ParseError, Unverified};

/// What became of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A ping; those whom a push to the repository would wake.
    Pong(DeliveryId, Vec<Wake>),
    /// Stored, and these were woken.
    Woken(DeliveryId, Vec<Wake>),
    /// Stored, and nobody was woken, for this reason.
    Ignored(DeliveryId, String),
    /// Not believed.
    Unverified(Unverified),
    /// No secret is set for the endpoint.
    NoSecret(&'static str),
    /// Believed, and not readable.
    Unreadable(ParseError),
    /// Larger than is read.
    TooLarge,
    /// The body broke off.
    BrokenOff(String),
    /// It could not be stored; the log has the reason under this id.
    Failed(Ulid),
}

#[derive(Debug, Default, Serialize)]
struct Body {
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sources: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    manifests: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ignored: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let (status, body) = match self {
            Self::Pong(delivery, wakes) => (StatusCode::OK, listing(&delivery, &wakes)),
            Self::Woken(delivery, wakes) => (StatusCode::ACCEPTED, listing(&delivery, &wakes)),
            Self::Ignored(delivery, reason) => {
                let delivery = Some(delivery.0);
                (StatusCode::ACCEPTED, Body { delivery, ignored: Some(reason), ..Body::default() })
            }
            Self::Unverified(why) => (StatusCode::UNAUTHORIZED, error(why.to_string())),
            Self::NoSecret(endpoint) => (
                StatusCode::UNAUTHORIZED,
                error(format!("this server has no secret for {endpoint} webhooks; set one and sign with it")),
            ),
            Self::Unreadable(why) => (StatusCode::BAD_REQUEST, error(why.to_string())),
            Self::TooLarge => {
                let text = "the body is larger than 25 MiB; the push is found when the source is polled";
                (StatusCode::PAYLOAD_TOO_LARGE, error(text.to_owned()))
            }
            Self::BrokenOff(why) => (StatusCode::BAD_REQUEST, error(format!("the body broke off: {why}"))),
            Self::Failed(id) => (
                StatusCode::SERVICE_UNAVAILABLE,
                error(format!(
                    "the delivery could not be stored; send it again (the log has the reason: {id})"
                )),
            ),
        };
        (status, Json(body)).into_response()
    }
}

fn listing(delivery: &DeliveryId, wakes: &[Wake]) -> Body {
    let sources = wakes.iter().filter_map(|wake| match wake {
        Wake::Source(name) => Some(name.to_string()),
        _ => None,
    });
    let manifests = wakes.iter().filter_map(|wake| match wake {
        Wake::Manifests(name) => Some(name.to_string()),
        _ => None,
    });
    let (sources, manifests) = (Some(sources.collect()), manifests.collect());
    Body { delivery: Some(delivery.0.clone()), sources, manifests, ..Body::default() }
}

fn error(text: String) -> Body {
    Body { error: Some(text), ..Body::default() }
}
