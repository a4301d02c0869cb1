//! Opening a modal: `views.open`, within the three seconds that Slack gives.
//!
//! <https://api.slack.com/methods/views.open>

use serde::Deserialize;
use serde_json::{Value, json};
use yuba_core::time::Span;
use yuba_ports::PortError;
use yuba_ports::bots::{Bot, bots};

use crate::router::Shared;

/// How long Slack may take to answer.
const PATIENCE: Span = Span(2500);

#[derive(Debug, Deserialize)]
struct Opened {
    ok: bool,
    #[serde(default)]
    error: String,
}

/// Opens a modal for whoever pressed, with the token of the first provider that Slack takes.
pub(crate) async fn open(shared: &Shared, trigger: &str, view: &Value) -> Result<(), PortError> {
    let body = json!({ "trigger_id": trigger, "view": view });
    let mut why = "no Provider of type slack has a secret with a `token`".to_owned();
    for bot in bots(&shared.ports).await? {
        match try_one(shared, &bot, &body).await {
            Ok(()) => return Ok(()),
            Err(trouble) => why = trouble,
        }
    }
    Err(PortError::transient(format!("a modal cannot be opened in Slack: {why}")))
}

async fn try_one(shared: &Shared, bot: &Bot, body: &Value) -> Result<(), String> {
    let request = bot.call("views.open", body, PATIENCE);
    let answer = shared.settings.http.post(&request).await.map_err(|error| error.to_string())?;
    match serde_json::from_slice::<Opened>(&answer.body) {
        Ok(Opened { ok: true, .. }) => Ok(()),
        Ok(Opened { error, .. }) => Err(format!("Slack says `{error}`")),
        Err(_) => Err(format!("Slack answered with status {}", answer.status)),
    }
}
