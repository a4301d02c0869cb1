//! What a button carries, and what a press of it comes back as.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::id::{ContentDigest, RunId, StackId};

/// What a button is for. Its name is the `action_id` that Slack sends back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Let the plan be applied.
    Approve,
    /// Do not; a modal asks why.
    Reject,
    /// Let a destruction be applied; a modal asks for the stack's name.
    ConfirmDestroy,
    /// Opens the plan; nothing comes back that must be acted on.
    ViewPlan,
    /// Put drift right.
    Remediate,
    /// Say no more of this drift for a day.
    IgnoreDay,
    /// Say no more of this drift for a week.
    IgnoreWeek,
    /// Somebody looks after it.
    Acknowledge,
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Approve,
        Self::Reject,
        Self::ConfirmDestroy,
        Self::ViewPlan,
        Self::Remediate,
        Self::IgnoreDay,
        Self::IgnoreWeek,
        Self::Acknowledge,
    ];

    /// The `action_id`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Approve => "yuba.approve",
            Self::Reject => "yuba.reject",
            Self::ConfirmDestroy => "yuba.confirm-destroy",
            Self::ViewPlan => "yuba.view-plan",
            Self::Remediate => "yuba.remediate",
            Self::IgnoreDay => "yuba.ignore-24h",
            Self::IgnoreWeek => "yuba.ignore-7d",
            Self::Acknowledge => "yuba.acknowledge",
        }
    }

    /// The action that an `action_id` names, if it is one of ours.
    pub fn named(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == id)
    }
}

/// What a button is about: Slack keeps it and sends it back with a press. It names; the records decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ButtonValue {
    /// Of the written form; now 1.
    v: u32,
    /// The stack.
    pub stack: StackId,
    /// The run.
    pub run: RunId,
    /// The content of the plan that was shown, where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<ContentDigest>,
}

impl ButtonValue {
    /// A value of the current form.
    pub fn new(stack: StackId, run: RunId, content: Option<ContentDigest>) -> Self {
        Self { v: 1, stack, run, content }
    }
}

/// A value that no button of this version, or the one before, carries.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a button's value cannot be read: {0}")]
pub struct UnreadableValue(String);

impl FromStr for ButtonValue {
    type Err = UnreadableValue;

    fn from_str(text: &str) -> Result<Self, UnreadableValue> {
        let value: Self = serde_json::from_str(text).map_err(|error| UnreadableValue(error.to_string()))?;
        match value.v {
            1 => Ok(value),
            other => Err(UnreadableValue(format!("it is of form {other}, and 1 is known"))),
        }
    }
}

impl fmt::Display for ButtonValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;

    #[test]
    fn a_value_comes_back_as_it_was_sent() {
        let content = Some(ContentDigest([7; 32]));
        let value = ButtonValue::new(StackId(Ulid(1)), RunId(Ulid(2)), content);
        assert_eq!(value.to_string().parse(), Ok(value));
        assert!(value.to_string().len() <= 2000);
        let later = value.to_string().replace("\"v\":1", "\"v\":2");
        assert_eq!(
            later.parse::<ButtonValue>().unwrap_err().to_string(),
            "a button's value cannot be read: it is of form 2, and 1 is known"
        );
    }

    #[test]
    fn every_action_is_found_by_its_id() {
        for action in Action::ALL {
            assert_eq!(Action::named(action.as_str()), Some(action));
        }
        assert_eq!(Action::named("approve"), None);
    }
}
