//! Private answers to what people asked for in Slack: to the address that came with the press, or else as a message that
//! they alone see.
//!
//! <https://api.slack.com/interactivity/handling#message_responses>, <https://api.slack.com/methods/chat.postEphemeral>

use serde::Deserialize;
use serde_json::{Value, json};
use yuba_core::id::RequestId;
use yuba_core::record::Key;
use yuba_core::request::{Request, SlackReply};
use yuba_core::slack::answer::private;
use yuba_core::time::Span;
use yuba_ports::bots::bots;
use yuba_ports::records::{Versioned, load};
use yuba_ports::{HttpAnswer, HttpRequest, NoAnswer, PortError, Ports};

use crate::settings::NotifierSettings;

/// How long Slack may take.
const PATIENCE: Span = Span::seconds(10);
/// After this nobody remembers what they pressed.
const TOO_LATE: Span = Span::minutes(30);

/// Answers whoever asked. An error means that it must be tried again.
pub(crate) async fn answer(
    ports: &Ports,
    settings: &NotifierSettings,
    id: RequestId,
) -> Result<Vec<String>, PortError> {
    let request = load::<Request>(&*ports.store, &Key::request(id)).await?.map(Versioned::into_value);
    let Some(request) = request else { return Ok(vec![format!("there is no request {id}")]) };
    let (Some(reply), Some(body)) = (&request.reply, private(&request)) else {
        return Ok(vec![format!("request {id} wants no answer yet")]);
    };
    if ports.clock.now().since(request.by.at) > TOO_LATE {
        return Ok(vec![format!("request {id} was made too long ago to be answered")]);
    }
    if at_address(settings, reply, &body).await? {
        return Ok(vec![format!("request {id} is answered")]);
    }
    as_message(ports, settings, reply, &body).await
}

/// Whether the address that came with the press took the answer: it is good for 30 minutes and five answers.
async fn at_address(
    settings: &NotifierSettings,
    reply: &SlackReply,
    body: &Value,
) -> Result<bool, PortError> {
    let Some(url) = &reply.response_url else { return Ok(false) };
    let request = HttpRequest {
        url: url.clone().into(),
        headers: vec![("content-type".to_owned(), "application/json; charset=utf-8".to_owned().into())],
        body: body.to_string().into_bytes(),
        timeout: PATIENCE,
        signing: None,
    };
    let answer = posted(settings, &request).await?;
    Ok(answer.is_some_and(|answer| (200..300).contains(&answer.status)))
}

#[derive(Debug, Deserialize)]
struct Posted {
    ok: bool,
}

/// A message in the channel that nobody else sees.
async fn as_message(
    ports: &Ports,
    settings: &NotifierSettings,
    reply: &SlackReply,
    body: &Value,
) -> Result<Vec<String>, PortError> {
    let Some(channel) = &reply.channel else { return Ok(vec!["there is no way left to answer".to_owned()]) };
    let message = json!({ "channel": channel, "user": reply.user, "text": body["text"] });
    for bot in bots(ports).await? {
        let answer = posted(settings, &bot.call("chat.postEphemeral", &message, PATIENCE)).await?;
        let taken = answer.and_then(|answer| serde_json::from_slice::<Posted>(&answer.body).ok());
        if taken.is_some_and(|posted| posted.ok) {
            return Ok(vec![
                "it is answered in the channel, as the address for answers is good no more".to_owned(),
            ]);
        }
    }
    Ok(vec!["nobody could be told: the address for answers is good no more, and no bot may write".to_owned()])
}

/// What Slack answers; `None` where the address must not be reached. Whatever passes is tried again.
async fn posted(settings: &NotifierSettings, request: &HttpRequest) -> Result<Option<HttpAnswer>, PortError> {
    match settings.http.post(request).await {
        Ok(answer) if answer.status == 429 => {
            Err(PortError::wait("Slack asks to wait", answer.retry_after.unwrap_or(Span::seconds(1))))
        }
        Ok(answer) if answer.status >= 500 => {
            Err(PortError::transient(format!("Slack answered with status {}", answer.status)))
        }
        Ok(answer) => Ok(Some(answer)),
        Err(NoAnswer::Unreachable(why)) => Err(PortError::transient(why)),
        Err(NoAnswer::Refused(why)) => {
            tracing::warn!(why, "a private answer cannot be sent");
            Ok(None)
        }
    }
}
