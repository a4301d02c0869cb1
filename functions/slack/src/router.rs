//! The HTTP side: reads a body, has it verified, and answers.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use yuba_core::slack::came::Came;
use yuba_core::slack::payload::{Interaction, SlashCommand};
use yuba_ports::records::Versioned;
use yuba_ports::{Committed, PortError, Ports, chain};

use crate::answer::Answer;
use crate::command;
use crate::handler;
use crate::settings::SlackSettings;
use crate::signature::{Unverified, Verified, verify};

/// The largest body that is read.
const LARGEST_BODY: usize = 1024 * 1024;

/// The Slack function with what it reaches the world through.
#[derive(Clone)]
pub struct Slack {
    shared: Arc<Shared>,
}

/// What requests share.
pub(crate) struct Shared {
    pub(crate) ports: Ports,
    pub(crate) settings: SlackSettings,
}

impl Slack {
    /// The function over an installation's ports.
    pub fn new(ports: Ports, settings: SlackSettings) -> Self {
        Self { shared: Arc::new(Shared { ports, settings }) }
    }
}

/// The routes `/slack/interactive` and `/slack/commands`.
pub fn router(slack: Slack) -> Router {
    Router::new()
        .route("/slack/interactive", post(interactive))
        .route("/slack/commands", post(command))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .with_state(slack)
}

type BodyRead = Result<Bytes, BytesRejection>;

/// An answer, also where the way to it ended early.
type Answered = Result<Answer, Answer>;

async fn interactive(State(slack): State<Slack>, headers: HeaderMap, body: BodyRead) -> Answered {
    let (shared, body) = (&slack.shared, read(body)?);
    let verified = believe(shared, &headers, &body).await?;
    let interaction = Interaction::read(verified.body()).map_err(Answer::Unreadable)?;
    handler::interact(shared, interaction).await.map_err(|error| failed(shared, &error))
}

async fn command(State(slack): State<Slack>, headers: HeaderMap, body: BodyRead) -> Answered {
    let (shared, body) = (&slack.shared, read(body)?);
    let verified = believe(shared, &headers, &body).await?;
    let command = SlashCommand::read(verified.body()).map_err(Answer::Unreadable)?;
    command::answer(shared, &command).await.map_err(|error| failed(shared, &error))
}

fn read(body: BodyRead) -> Result<Bytes, Answer> {
    body.map_err(|why| match why.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Answer::TooLarge,
        _ => Answer::BrokenOff(why.body_text()),
    })
}

/// Verifies a body, and notes that it came.
async fn believe<'a>(shared: &Shared, headers: &HeaderMap, body: &'a Bytes) -> Result<Verified<'a>, Answer> {
    let now = shared.ports.clock.now();
    let verified =
        verify(headers, body, &shared.settings.signing_secrets, now).map_err(Answer::Unverified)?;
    let came = Came { signature: verified.signature(), at: now };
    let noted = async { shared.ports.store.commit(vec![Versioned::new(came).put()?]).await };
    match noted.await.map_err(|error| failed(shared, &error))? {
        Committed::Done => Ok(verified),
        Committed::Conflict(_) => Err(Answer::Unverified(Unverified::Replayed)),
    }
}

fn failed(shared: &Shared, error: &PortError) -> Answer {
    let id = shared.ports.ids.ulid();
    tracing::error!(%id, error = chain(error), "what somebody did in Slack could not be carried out");
    Answer::Failed(id)
}
