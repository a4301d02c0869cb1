//! Messages that could not be handled: listed, and sent again.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use yuba_ports::{DeadLetter, QueueName};

use crate::Api;
use crate::problem::Problem;
use crate::routes::MOST_ITEMS;
use crate::wire::{DeadLetterItem, List, ProblemBody, Redriven};

/// How many are sent again at once: in less time than a request may take.
const MOST_REDRIVEN: usize = 1_000;

/// Lists dead letters of `stacks`, `sources` or `notices`, the oldest first, at most 100. Of those in one group some may be left out
/// as long as others lie there.
#[utoipa::path(get, path = "/api/v1/queues/{queue}/dead-letters", tag = "installation",
    params(("queue" = String, Path)),
    responses((status = 200, body = List<DeadLetterItem>), (status = 404, body = ProblemBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    Path(queue): Path<String>,
) -> Result<Json<List<DeadLetterItem>>, Problem> {
    let letters = api.ports.queue.dead_letters(named(&queue)?, MOST_ITEMS).await?;
    Ok(Json(List { items: letters.into_iter().map(item).collect(), next: None }))
}

/// Sends dead letters of `stacks`, `sources` or `notices` again. Whether they can be handled now shows later.
#[utoipa::path(post, path = "/api/v1/queues/{queue}/redrive", tag = "installation",
    params(("queue" = String, Path)),
    responses((status = 202, body = Redriven), (status = 404, body = ProblemBody)))]
pub(crate) async fn redrive(
    State(api): State<Api>,
    Path(queue): Path<String>,
) -> Result<(StatusCode, Json<Redriven>), Problem> {
    let queue = named(&queue)?;
    let redriven = api.ports.queue.redrive(queue, MOST_REDRIVEN).await?;
    tracing::info!(queue = queue.as_str(), redriven, "dead letters are sent again");
    Ok((StatusCode::ACCEPTED, Json(Redriven { redriven })))
}

fn named(name: &str) -> Result<QueueName, Problem> {
    let found = QueueName::ALL.into_iter().find(|queue| queue.as_str() == name);
    found.ok_or_else(|| {
        let all = QueueName::ALL.map(QueueName::as_str).join(", ");
        Problem::not_found(format!("there is no queue `{name}`")).with_help(format!("there are {all}"))
    })
}

fn item(letter: DeadLetter) -> DeadLetterItem {
    let DeadLetter { id, group, body, since, why } = letter;
    DeadLetterItem { id, group, since: since.to_string(), why, message: body }
}
