//! What Slack sends when somebody presses a button, submits a modal or gives a slash command.
//!
//! <https://api.slack.com/reference/interaction-payloads>, <https://api.slack.com/interactivity/slash-commands>. Fields
//! that nothing here needs are not read: Slack adds some from time to time.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::button::{Action, ButtonValue};
use super::modal::{About, INPUT, Modal, TEXT};
use crate::request::SlackReply;

/// A payload of `/slack/interactive`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interaction {
    /// A button of ours was pressed.
    Pressed(Press),
    /// A modal of ours was submitted.
    Submitted(Submission),
    /// Anything else that Slack tells of; nothing follows from it.
    Other(String),
}

/// A press of a button.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Press {
    /// Who pressed.
    pub by: SlackUser,
    /// Which button.
    pub action: Action,
    /// What it is about.
    pub value: ButtonValue,
    /// Where whoever pressed is answered.
    pub reply: SlackReply,
    /// Lets one modal be opened, within three seconds.
    pub trigger: String,
}

/// A modal that was submitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Submission {
    /// Who submitted.
    pub by: SlackUser,
    /// Which modal.
    pub modal: Modal,
    /// What it is about.
    pub about: About,
    /// What was typed; may be empty.
    pub typed: String,
}

/// A user of Slack, as a verified payload names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlackUser {
    /// The workspace: `T0123`; empty where a payload names none.
    pub workspace: String,
    /// The user: `U0123`.
    pub id: String,
}

/// A slash command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlashCommand {
    /// Who gave it.
    pub by: SlackUser,
    /// What follows the command's name.
    pub text: String,
}

/// A payload that is not of the form that Slack documents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the payload cannot be read: {0}")]
pub struct UnreadablePayload(String);

impl Interaction {
    /// Reads the body of a request to `/slack/interactive`: a form whose field `payload` holds JSON.
    pub fn read(body: &[u8]) -> Result<Self, UnreadablePayload> {
        let payload = field(body, "payload").ok_or_else(|| unreadable("there is no field `payload`"))?;
        Self::parse(&payload)
    }

    /// Reads the JSON of a payload.
    pub fn parse(json: &str) -> Result<Self, UnreadablePayload> {
        let wire: Wire = serde_json::from_str(json).map_err(|error| unreadable(&error.to_string()))?;
        match wire.kind.as_str() {
            "block_actions" => pressed(wire),
            "view_submission" => submitted(wire),
            _ => Ok(Self::Other(wire.kind)),
        }
    }
}

impl SlashCommand {
    /// Reads the body of a request to `/slack/commands`.
    pub fn read(body: &[u8]) -> Result<Self, UnreadablePayload> {
        let id = field(body, "user_id").filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| unreadable("there is no field `user_id`"))?;
        let by = SlackUser { workspace: field(body, "team_id").unwrap_or_default(), id };
        Ok(Self { by, text: field(body, "text").unwrap_or_default() })
    }
}

fn field(body: &[u8], name: &str) -> Option<String> {
    form_urlencoded::parse(body).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

fn unreadable(why: &str) -> UnreadablePayload {
    UnreadablePayload(why.to_owned())
}

/// The first action of ours: Slack sends one for each press.
fn pressed(wire: Wire) -> Result<Interaction, UnreadablePayload> {
    let ours =
        wire.actions.iter().find_map(|action| Some((Action::named(&action.action_id)?, &action.value)));
    let Some((action, value)) = ours else { return Ok(Interaction::Other(wire.kind)) };
    let by = wire.by()?;
    let value = value.as_deref().unwrap_or_default();
    let value = value.parse().map_err(|error| unreadable(&format!("{error}")))?;
    let reply = SlackReply {
        response_url: wire.response_url,
        user: by.id.clone(),
        channel: wire.channel.map(|channel| channel.id),
    };
    Ok(Interaction::Pressed(Press { by, action, value, reply, trigger: wire.trigger_id.unwrap_or_default() }))
}

fn submitted(wire: Wire) -> Result<Interaction, UnreadablePayload> {
    let by = wire.by()?;
    let view = wire.view.unwrap_or_default();
    let Some(modal) = Modal::named(&view.callback_id) else { return Ok(Interaction::Other(wire.kind)) };
    let about = view.private_metadata.parse().map_err(|error| unreadable(&format!("{error}")))?;
    let input = view.state.values.get(INPUT).and_then(|block| block.get(TEXT));
    let typed = input.and_then(|input| input.value.clone()).unwrap_or_default();
    Ok(Interaction::Submitted(Submission { by, modal, about, typed }))
}

#[derive(Debug, Deserialize)]
struct Wire {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    user: WireUser,
    team: Option<WireId>,
    channel: Option<WireId>,
    trigger_id: Option<String>,
    response_url: Option<String>,
    #[serde(default)]
    actions: Vec<WireAction>,
    view: Option<WireView>,
}

impl Wire {
    fn by(&self) -> Result<SlackUser, UnreadablePayload> {
        if self.user.id.is_empty() {
            return Err(unreadable("it names no user"));
        }
        let workspace = self.team.as_ref().map(|team| team.id.clone()).or_else(|| self.user.team_id.clone());
        Ok(SlackUser { workspace: workspace.unwrap_or_default(), id: self.user.id.clone() })
    }
}

#[derive(Debug, Default, Deserialize)]
struct WireUser {
    #[serde(default)]
    id: String,
    team_id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct WireId {
    #[serde(default)]
    id: String,
}

#[derive(Debug, Deserialize)]
struct WireAction {
    #[serde(default)]
    action_id: String,
    value: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct WireView {
    #[serde(default)]
    callback_id: String,
    #[serde(default)]
    private_metadata: String,
    #[serde(default)]
    state: WireState,
}

#[derive(Debug, Default, Deserialize)]
struct WireState {
    #[serde(default)]
    values: BTreeMap<String, BTreeMap<String, WireInput>>,
}

#[derive(Debug, Deserialize)]
struct WireInput {
    value: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use ulid::Ulid;

    use super::*;
    use crate::id::{ContentDigest, RunId, StackId};

    fn value() -> ButtonValue {
        ButtonValue::new(StackId(Ulid(1)), RunId(Ulid(2)), Some(ContentDigest([7; 32])))
    }

    fn press(action: &str, value: &str) -> String {
        json!({
            "type": "block_actions",
            "user": { "id": "U1", "team_id": "T1" },
            "team": { "id": "T1" },
            "channel": { "id": "C1" },
            "trigger_id": "1.2.abc",
            "response_url": "https://hooks.slack.com/actions/T1/1/x",
            "actions": [{ "type": "button", "action_id": action, "value": value }],
        })
        .to_string()
    }

    #[test]
    fn a_press_says_who_pressed_what_about_which_plan() {
        let body = form_urlencoded::Serializer::new(String::new())
            .append_pair("payload", &press("yuba.approve", &value().to_string()))
            .finish();
        let read = Interaction::read(body.as_bytes()).unwrap();
        let reply = SlackReply {
            response_url: Some("https://hooks.slack.com/actions/T1/1/x".to_owned()),
            user: "U1".to_owned(),
            channel: Some("C1".to_owned()),
        };
        let by = SlackUser { workspace: "T1".to_owned(), id: "U1".to_owned() };
        let trigger = "1.2.abc".to_owned();
        let expected = Press { by, action: Action::Approve, value: value(), reply, trigger };
        assert_eq!(read, Interaction::Pressed(expected));
    }

    #[test]
    fn what_is_not_ours_is_left_alone_and_what_cannot_be_read_is_said() {
        let other = |kind: &str| Ok(Interaction::Other(kind.to_owned()));
        assert_eq!(Interaction::parse(&press("vendor.ok", "")), other("block_actions"));
        assert_eq!(Interaction::parse(r#"{"type":"view_closed"}"#), other("view_closed"));
        let why = |json: &str| Interaction::parse(json).unwrap_err().to_string();
        insta::assert_snapshot!(why(&press("yuba.approve", "{}")), @"the payload cannot be read: a button's value cannot be read: missing field `v` at line 1 column 2");
        assert!(Interaction::parse("[]").is_err());
        insta::assert_snapshot!(Interaction::read(b"a=b").unwrap_err(), @"the payload cannot be read: there is no field `payload`");
    }

    #[test]
    fn a_submitted_modal_carries_what_it_was_about_and_what_was_typed() {
        let reply = SlackReply { response_url: None, user: "U1".to_owned(), channel: None };
        let about = About { value: value(), reply };
        let view = about.view(Modal::Reject, "infra/prod");
        let json = json!({
            "type": "view_submission",
            "user": { "id": "U1" },
            "team": null,
            "view": {
                "callback_id": view["callback_id"],
                "private_metadata": view["private_metadata"],
                "state": { "values": { INPUT: { TEXT: { "type": "plain_text_input", "value": "not now" } } } },
            },
        });
        let by = SlackUser { workspace: String::new(), id: "U1".to_owned() };
        let expected = Submission { by, modal: Modal::Reject, about, typed: "not now".to_owned() };
        assert_eq!(Interaction::parse(&json.to_string()), Ok(Interaction::Submitted(expected)));
    }

    #[test]
    fn a_command_is_read_from_its_form() {
        let command =
            SlashCommand::read(b"team_id=T1&user_id=U1&command=%2Fyuba&text=status+infra%2Fprod").unwrap();
        assert_eq!((command.by.id.as_str(), command.text.as_str()), ("U1", "status infra/prod"));
        assert!(SlashCommand::read(b"text=status").is_err());
    }
}
