//! Blocks of a message, as JSON that Slack takes: what is too long is cut, what is too many is left out.

use serde::Serialize;
use serde_json::{Value, json};

use super::button::{Action, ButtonValue};
use super::text::{Mrkdwn, plain};

/// The most blocks of a message.
const MOST_BLOCKS: usize = 50;
/// The most buttons of a row.
const MOST_BUTTONS: usize = 25;
/// The most elements of a context.
const MOST_IN_CONTEXT: usize = 10;
/// The greatest length of a header.
const LONGEST_HEADER: usize = 150;
/// The greatest length of a button's label.
const LONGEST_LABEL: usize = 75;
/// The greatest length of a button's address.
const LONGEST_URL: usize = 3000;

/// A message's blocks, in order.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Blocks(Vec<Value>);

impl Blocks {
    /// Adds a line in large letters.
    #[must_use]
    pub fn header(self, text: &str) -> Self {
        let text = plain(text, LONGEST_HEADER);
        self.with(json!({ "type": "header", "text": { "type": "plain_text", "text": text, "emoji": false } }))
    }

    /// Adds a text, unless it is empty.
    #[must_use]
    pub fn section(self, text: &Mrkdwn) -> Self {
        if text.is_empty() {
            return self;
        }
        self.with(json!({ "type": "section", "text": mrkdwn(text) }))
    }

    /// Adds small texts beside each other.
    #[must_use]
    pub fn context(self, texts: &[Mrkdwn]) -> Self {
        let elements: Vec<Value> =
            texts.iter().filter(|text| !text.is_empty()).take(MOST_IN_CONTEXT).map(mrkdwn).collect();
        if elements.is_empty() {
            return self;
        }
        self.with(json!({ "type": "context", "elements": elements }))
    }

    /// Adds a row of buttons.
    #[must_use]
    pub fn buttons(self, buttons: &[Button]) -> Self {
        if buttons.is_empty() {
            return self;
        }
        let elements: Vec<Value> = buttons.iter().take(MOST_BUTTONS).map(Button::to_json).collect();
        self.with(json!({ "type": "actions", "elements": elements }))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn with(mut self, block: Value) -> Self {
        if self.0.len() < MOST_BLOCKS {
            self.0.push(block);
        }
        self
    }
}

/// A button.
#[derive(Debug, Clone, PartialEq)]
pub struct Button {
    action: Action,
    label: &'static str,
    value: ButtonValue,
    look: Look,
    url: Option<String>,
}

/// How a button looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// As most do.
    Plain,
    /// Green.
    Primary,
    /// Red.
    Danger,
}

impl Button {
    /// A button that is sent back when it is pressed.
    pub fn new(action: Action, label: &'static str, value: ButtonValue) -> Self {
        Self { action, label, value, look: Look::Plain, url: None }
    }

    /// The same, of another look.
    #[must_use]
    pub fn looking(self, look: Look) -> Self {
        Self { look, ..self }
    }

    /// The same, which opens an address too. An address that is too long for Slack is left out.
    #[must_use]
    pub fn opening(self, url: &str) -> Self {
        let url = Some(url.to_owned()).filter(|url| url.len() <= LONGEST_URL);
        Self { url, ..self }
    }

    fn to_json(&self) -> Value {
        let style = match self.look {
            Look::Plain => None,
            Look::Primary => Some(("style", json!("primary"))),
            Look::Danger => Some(("style", json!("danger"))),
        };
        let fields = [
            ("type", json!("button")),
            ("action_id", json!(self.action.as_str())),
            (
                "text",
                json!({ "type": "plain_text", "text": plain(self.label, LONGEST_LABEL), "emoji": false }),
            ),
            ("value", json!(self.value.to_string())),
        ];
        let url = self.url.as_ref().map(|url| ("url", json!(url)));
        fields.into_iter().chain(style).chain(url).map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

fn mrkdwn(text: &Mrkdwn) -> Value {
    json!({ "type": "mrkdwn", "text": text, "verbatim": true })
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;
    use crate::id::{RunId, StackId};

    fn value() -> ButtonValue {
        ButtonValue::new(StackId(Ulid(1)), RunId(Ulid(2)), None)
    }

    #[test]
    fn blocks_are_what_slack_reads() {
        let approve = Button::new(Action::Approve, "Approve", value()).looking(Look::Primary);
        let view = Button::new(Action::ViewPlan, "View plan", value()).opening("https://yuba.example/runs/1");
        let blocks = Blocks::default()
            .header("a\nb")
            .section(&Mrkdwn::of("<!here>"))
            .section(&Mrkdwn::default())
            .context(&[Mrkdwn::of("small")])
            .buttons(&[approve, view]);
        let value = value().to_string();
        assert_eq!(
            serde_json::to_value(&blocks).unwrap(),
            json!([
                { "type": "header", "text": { "type": "plain_text", "text": "a b", "emoji": false } },
                { "type": "section", "text": { "type": "mrkdwn", "text": "&lt;!here&gt;", "verbatim": true } },
                { "type": "context", "elements": [{ "type": "mrkdwn", "text": "small", "verbatim": true }] },
                { "type": "actions", "elements": [
                    {
                        "type": "button", "action_id": "yuba.approve", "style": "primary", "value": value,
                        "text": { "type": "plain_text", "text": "Approve", "emoji": false },
                    },
                    {
                        "type": "button", "action_id": "yuba.view-plan", "value": value,
                        "text": { "type": "plain_text", "text": "View plan", "emoji": false },
                        "url": "https://yuba.example/runs/1",
                    },
                ] },
            ])
        );
    }

    #[test]
    fn a_message_has_at_most_fifty_blocks() {
        let blocks = (0..60).fold(Blocks::default(), |blocks, _| blocks.section(&Mrkdwn::of("x")));
        assert_eq!(blocks.len(), MOST_BLOCKS);
        assert!(!blocks.is_empty());
    }
}
