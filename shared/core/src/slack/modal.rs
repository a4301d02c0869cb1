//! The modals that some buttons open: why a plan is rejected, and the name of the stack that is to be destroyed.
//!
//! <https://api.slack.com/reference/surfaces/views>: a title has at most 24 characters, `private_metadata` 3,000.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::blocks::Blocks;
use super::button::ButtonValue;
use super::text::Mrkdwn;
use crate::request::SlackReply;

/// The block that holds the one input of a modal.
pub const INPUT: &str = "yuba.input";
/// The input itself.
pub const TEXT: &str = "yuba.text";

/// A modal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modal {
    /// Asks why a plan is rejected.
    Reject,
    /// Asks for the name of the stack that is to be destroyed.
    ConfirmDestroy,
}

impl Modal {
    /// Its `callback_id`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reject => "yuba.reject",
            Self::ConfirmDestroy => "yuba.confirm-destroy",
        }
    }

    /// The modal that a `callback_id` names, if it is one of ours.
    pub fn named(id: &str) -> Option<Self> {
        [Self::Reject, Self::ConfirmDestroy].into_iter().find(|modal| modal.as_str() == id)
    }
}

/// What a modal is about, and where whoever opened it is answered: Slack keeps it as `private_metadata`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// What the button was about.
    pub value: ButtonValue,
    /// Where they are answered.
    pub reply: SlackReply,
}

impl About {
    /// The modal as `views.open` takes it.
    pub fn view(&self, modal: Modal, stack: &str) -> Value {
        let (title, submit, label, is_optional) = match modal {
            Modal::Reject => ("Reject the plan", "Reject", "Why?", true),
            Modal::ConfirmDestroy => ("Destroy the stack", "Destroy", "The stack's name", false),
        };
        let intro = match modal {
            Modal::Reject => Mrkdwn::of("The plan of ")
                .bold(stack)
                .plain(" is not applied; nothing is until something changes."),
            Modal::ConfirmDestroy => Mrkdwn::of("Everything that ")
                .bold(stack)
                .plain(" manages is destroyed. Type its name to confirm."),
        };
        let is_long = modal == Modal::Reject;
        let plain = |text: &str| json!({ "type": "plain_text", "text": text, "emoji": false });
        let input = json!({
            "type": "input",
            "block_id": INPUT,
            "optional": is_optional,
            "label": plain(label),
            "element": { "type": "plain_text_input", "action_id": TEXT, "multiline": is_long, "max_length": 1000 },
        });
        let blocks = Blocks::default().section(&intro).with(input);
        json!({
            "type": "modal",
            "callback_id": modal.as_str(),
            "private_metadata": self.to_string(),
            "title": plain(title),
            "submit": plain(submit),
            "close": plain("Cancel"),
            "blocks": blocks,
        })
    }
}

/// Metadata that no modal of this version carries.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a modal's metadata cannot be read: {0}")]
pub struct UnreadableAbout(String);

impl FromStr for About {
    type Err = UnreadableAbout;

    fn from_str(text: &str) -> Result<Self, UnreadableAbout> {
        let about: Self = serde_json::from_str(text).map_err(|error| UnreadableAbout(error.to_string()))?;
        // The same check of its form as of a press.
        about.value.to_string().parse::<ButtonValue>().map_err(|error| UnreadableAbout(error.to_string()))?;
        Ok(about)
    }
}

impl fmt::Display for About {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;
    use crate::id::{ContentDigest, RunId, StackId};

    #[test]
    fn a_modal_keeps_within_slacks_limits() {
        let value = ButtonValue::new(StackId(Ulid(1)), RunId(Ulid(2)), Some(ContentDigest([7; 32])));
        let reply = SlackReply {
            response_url: Some(format!("https://hooks.slack.com/{}", "x".repeat(500))),
            user: "U1".to_owned(),
            channel: Some("C1".to_owned()),
        };
        let about = About { value, reply };
        for modal in [Modal::Reject, Modal::ConfirmDestroy] {
            let view = about.view(modal, &format!("infra/{}", "x".repeat(300)));
            assert_eq!(Modal::named(view["callback_id"].as_str().unwrap()), Some(modal));
            assert_eq!(view["private_metadata"].as_str().unwrap().parse(), Ok(about.clone()));
            assert!(view["private_metadata"].as_str().unwrap().len() <= 3000);
            assert!(view["title"]["text"].as_str().unwrap().len() <= 24);
            assert_eq!(view["blocks"][1]["block_id"], INPUT);
        }
    }

    #[test]
    fn the_name_of_a_stack_says_nothing_but_itself() {
        let value = ButtonValue::new(StackId(Ulid(1)), RunId(Ulid(2)), None);
        let reply = SlackReply { response_url: None, user: "U1".to_owned(), channel: None };
        let view = About { value, reply }.view(Modal::Reject, "infra/<!here>");
        let text = view["blocks"][0]["text"]["text"].as_str().unwrap();
        assert_eq!(
            text,
            "The plan of *infra/&lt;!here&gt;* is not applied; nothing is until something changes."
        );
    }
}
