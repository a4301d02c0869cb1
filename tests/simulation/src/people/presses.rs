//! What people press in Slack: the buttons of any message that stands there, as it is or as it once was; those who may, a
//! stranger, twice, and too late.

use axum::body::Body;
use axum::http::Request;
use form_urlencoded::Serializer;
use secrecy::SecretString;
use serde_json::{Value, json};
use yuba_core::slack::button::{Action as Button, ButtonValue};
use yuba_core::slack::modal::{INPUT, TEXT};
use yuba_core::time::Span;

use super::office::slack_id;
use super::{NAMES, STRANGER};
use crate::history::Sign;
use crate::lane::Lane;
use crate::process::Doing;
use crate::serving::SIGNING_SECRET;
use crate::world::services::ANSWERS;
use crate::world::{Answer, State, World};

/// Older than a request of Slack may be, whatever the clocks say.
const TOO_OLD: Span = Span::minutes(8);

/// A button that somebody sees.
struct Sight {
    who: &'static str,
    button: Button,
    value: ButtonValue,
    /// Names the press.
    number: u64,
    way: Way,
}

/// How a request of Slack arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Once,
    Twice,
    TooLate,
}

/// Somebody presses a button.
pub(super) fn press(world: &World) -> Option<(String, Doing)> {
    let mut state = world.state();
    let sight = sight(&mut state)?;
    let Sight { who, button, value, number, .. } = &sight;
    state.note_as(Sign::to(Lane::Services), || format!("{who} presses {} (press {number})", button.as_str()));
    if matches!(button, Button::Approve | Button::Remediate | Button::ConfirmDestroy) {
        state.oracle.meant_by_press(who, value);
    }
    drop(state);
    let (who, world) = (sight.who.to_owned(), world.clone());
    Some((who, Box::pin(async move { pressed(&world, &sight).await })))
}

/// A button of a message, mostly of what it shows now.
fn sight(state: &mut State) -> Option<Sight> {
    let messages: Vec<&Vec<Value>> = state.services.messages.values().collect();
    // Newer messages are more often looked at.
    let last = messages.len().checked_sub(1)?;
    let back = if state.chance.permille(700) { 4 } else { messages.len() };
    let versions = messages.get(last.saturating_sub(state.chance.below(back)))?;
    let newest = versions.len().saturating_sub(1);
    let version = if state.chance.permille(200) { state.chance.below(versions.len()) } else { newest };
    let buttons = buttons(versions.get(version)?);
    let (button, value) = *state.chance.one_of(&buttons)?;
    let who = if state.chance.permille(120) { STRANGER } else { *state.chance.one_of(&NAMES)? };
    let ways = [(80, Way::Once), (12, Way::Twice), (8, Way::TooLate)];
    let way = state.chance.weighted(&ways)?;
    Some(Sight { who, button, value, number: state.number(), way })
}

fn buttons(message: &Value) -> Vec<(Button, ButtonValue)> {
    let blocks = message.get("blocks").and_then(Value::as_array).into_iter().flatten();
    let elements = blocks.filter_map(|block| block.get("elements").and_then(Value::as_array)).flatten();
    let button = |element: &Value| {
        let action = Button::named(element.get("action_id")?.as_str()?)?;
        Some((action, element.get("value")?.as_str()?.parse().ok()?))
    };
    elements.filter_map(button).filter(|(action, _)| *action != Button::ViewPlan).collect()
}

async fn pressed(world: &World, sight: &Sight) {
    let payload = json!({
        "type": "block_actions",
        "user": { "id": slack_id(sight.who) },
        "team": { "id": "T1" },
        "channel": { "id": "C1" },
        "trigger_id": sight.number.to_string(),
        "response_url": format!("{ANSWERS}{}", sight.number),
        "actions": [{ "type": "button", "action_id": sight.button.as_str(), "value": sight.value.to_string() }],
    });
    let is_taken = arrive(world, &payload, sight.way).await.is_some();
    match sight.button {
        Button::Approve | Button::Remediate if is_taken => {
            world.state().oracle.accepted_press(format!("{ANSWERS}{}", sight.number));
        }
        Button::Reject | Button::ConfirmDestroy => submit(world, sight).await,
        _ => {}
    }
}

/// Whoever sees a modal submits it, with what was asked for or with nonsense.
async fn submit(world: &World, sight: &Sight) {
    let modal = world.state().services.modals.remove(&sight.number.to_string());
    let Some(modal) = modal else { return };
    let typed = {
        let mut state = world.state();
        let name = state.oracle.name_of(sight.value.stack).unwrap_or_default();
        if state.chance.permille(850) { name } else { "another".to_owned() }
    };
    let payload = json!({
        "type": "view_submission",
        "user": { "id": slack_id(sight.who) },
        "team": { "id": "T1" },
        "view": {
            "callback_id": modal.get("callback_id"),
            "private_metadata": modal.get("private_metadata"),
            "state": { "values": { INPUT: { TEXT: { "value": typed } } } },
        },
    });
    let answer = arrive(world, &payload, sight.way).await;
    if answer.is_some_and(|answer| answer.body.is_null()) {
        world.state().oracle.accepted_press(format!("{ANSWERS}{}", sight.number));
    }
}

/// A request of Slack arrives; its answer, where it was believed and taken. The same is not believed twice, and nothing too
/// late.
async fn arrive(world: &World, payload: &Value, way: Way) -> Option<Answer> {
    let body = Serializer::new(String::new()).append_pair("payload", &payload.to_string()).finish();
    let stamp = (world.state().now.0 / 1000).to_string();
    if way == Way::TooLate {
        world.sleep(TOO_OLD).await;
    }
    let first = send(world, &body, &stamp).await;
    if way == Way::TooLate && first.is_some() {
        world.state().violated(3, "a press that was signed too long ago was believed".to_owned());
    }
    if way == Way::Twice && send(world, &body, &stamp).await.is_some() && first.is_some() {
        world.state().violated(3, "the same press was believed twice".to_owned());
    }
    first
}

async fn send(world: &World, body: &str, stamp: &str) -> Option<Answer> {
    let secret = SecretString::from(SIGNING_SECRET);
    let signature = yuba_slack::sign(&secret, stamp, body.as_bytes())?;
    let request = Request::post("/slack/interactive")
        .header("content-type", "application/x-www-form-urlencoded")
        .header("x-slack-request-timestamp", stamp)
        .header("x-slack-signature", signature)
        .body(Body::from(body.to_owned()))
        .ok()?;
    world.request(request).await.filter(|answer| answer.status.is_success())
}
