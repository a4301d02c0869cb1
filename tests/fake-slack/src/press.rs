//! What the real one sends back: presses of buttons, and modals that are submitted.
//! <https://docs.slack.dev/reference/interaction-payloads>

use serde_json::{Value, json};

use crate::{FakeSlack, Message};

impl FakeSlack {
    /// The payload of a press of a message's button; the test fails where it has none.
    pub fn press(&self, message: &Message, action: &str, user: &str, answered_at: &str) -> Value {
        let blocks = message.body["blocks"].as_array().into_iter().flatten();
        let elements = blocks.flat_map(|block| block["elements"].as_array().into_iter().flatten());
        let button = elements.into_iter().find(|element| element["action_id"] == action);
        let button = button.unwrap_or_else(|| panic!("no button {action} in {}", message.body));
        json!({
            "type": "block_actions",
            "user": { "id": user, "username": "somebody", "team_id": "T0" },
            "api_app_id": "A0",
            "team": { "id": "T0", "domain": "example" },
            "channel": { "id": message.channel, "name": "infra" },
            "container": { "type": "message", "message_ts": message.ts, "channel_id": message.channel },
            "trigger_id": format!("trigger.{answered_at}"),
            "response_url": self.response_url(answered_at),
            "actions": [{ "type": "button", "action_id": action, "block_id": "b", "value": button["value"] }],
        })
    }

    /// The payload of a modal that was opened by `views.open`, submitted with a text in its one input.
    pub fn submit(&self, opened: &Value, user: &str, typed: &str) -> Value {
        let view = &opened["view"];
        let blocks = view["blocks"].as_array().into_iter().flatten();
        let input = blocks.into_iter().find(|block| block["type"] == "input").unwrap_or(&Value::Null);
        let (block, element) = (&input["block_id"], &input["element"]["action_id"]);
        let values = json!({ block.as_str().unwrap_or("?"): { element.as_str().unwrap_or("?"): { "type": "plain_text_input", "value": typed } } });
        json!({
            "type": "view_submission",
            "team": { "id": "T0", "domain": "example" },
            "user": { "id": user, "username": "somebody", "team_id": "T0" },
            "view": {
                "id": "V1",
                "type": "modal",
                "callback_id": view["callback_id"],
                "private_metadata": view["private_metadata"],
                "state": { "values": values },
            },
        })
    }
}
