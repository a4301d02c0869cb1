//! The HTTP side: reads a body, has it verified, and answers.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use secrecy::SecretString;
use tracing::Instrument;
use yuba_git::webhook::{Scheme, parse, verify};
use yuba_ports::{PortError, Ports, chain};

use crate::accept::accept;
use crate::answer::Answer;
use crate::settings::WebhookSettings;
use crate::targets::Targets;

/// The largest body that is read: GitHub sends none that is larger.
const LARGEST_BODY: usize = 25 * 1024 * 1024;

/// The webhook function with what it reaches the world through.
#[derive(Clone)]
pub struct Webhook {
    shared: Arc<Shared>,
}

struct Shared {
    ports: Ports,
    settings: WebhookSettings,
    targets: Targets,
}

impl Webhook {
    /// The function over an installation's ports.
    pub fn new(ports: Ports, settings: WebhookSettings) -> Self {
        Self { shared: Arc::new(Shared { ports, settings, targets: Targets::default() }) }
    }
}

/// The routes `/webhooks/github` and `/webhooks/generic`.
pub fn router(webhook: Webhook) -> Router {
    Router::new()
        .route("/webhooks/github", post(github))
        .route("/webhooks/generic", post(generic))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .with_state(webhook)
}

type BodyRead = Result<Bytes, BytesRejection>;

async fn github(State(webhook): State<Webhook>, headers: HeaderMap, body: BodyRead) -> Answer {
    let secrets = &webhook.shared.settings.github;
    let endpoint = Endpoint { name: "github", scheme: Scheme::GitHub, secrets };
    receive(&webhook.shared, &endpoint, &headers, body).await
}

async fn generic(State(webhook): State<Webhook>, headers: HeaderMap, body: BodyRead) -> Answer {
    let secrets = &webhook.shared.settings.generic;
    let endpoint = Endpoint { name: "generic", scheme: Scheme::Generic, secrets };
    receive(&webhook.shared, &endpoint, &headers, body).await
}

struct Endpoint<'a> {
    name: &'static str,
    scheme: Scheme,
    secrets: &'a [SecretString],
}

async fn receive(shared: &Shared, endpoint: &Endpoint<'_>, headers: &HeaderMap, body: BodyRead) -> Answer {
    let body = match body {
        Ok(body) => body,
        Err(why) if why.status() == StatusCode::PAYLOAD_TOO_LARGE => return Answer::TooLarge,
        Err(why) => return Answer::BrokenOff(why.body_text()),
    };
    if endpoint.secrets.is_empty() {
        return Answer::NoSecret(endpoint.name);
    }
    let verified = match verify(endpoint.scheme, headers, body, endpoint.secrets) {
        Ok(verified) => verified,
        Err(why) => return Answer::Unverified(why),
    };
    let notice = match parse(headers, &verified) {
        Ok(notice) => notice,
        Err(why) => return Answer::Unreadable(why),
    };
    let span = tracing::info_span!("webhook", host = endpoint.name);
    let handled = async {
        let targets = shared.targets.list(&shared.ports, &shared.settings.manifests).await?;
        accept(&shared.ports, endpoint.name, notice, &targets).await
    };
    match handled.instrument(span).await {
        Ok(answer) => answer,
        Err(error) => failed(&shared.ports, &error),
    }
}

fn failed(ports: &Ports, error: &PortError) -> Answer {
    let id = ports.ids.ulid();
    tracing::error!(%id, error = chain(error), "a webhook delivery could not be stored");
    Answer::Failed(id)
}
