//! Tokens for the API: their text comes out once, when they are made.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A token that is to be made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenBody {
    /// What it is called: 1 to 63 of `a-z`, `0-9`, `.`, `_` and `-`.
    pub name: String,
    /// `read`, `approve` or `admin`.
    pub scope: String,
    /// Only stacks with these labels: `key=value`, `key!=value` or `key`, several with commas between.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub labels: Option<String>,
    /// The e-mail address of the human whom it speaks for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub r#for: Option<String>,
    /// For how long it holds: `12h`, `30d`, a year at most; left out, 90 days.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires: Option<String>,
    /// Who makes it, where the caller's token leaves that open.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub who: Option<String>,
    /// Through which door.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<String>,
}

/// A token, without what is secret in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TokenItem {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// `read`, `approve` or `admin`.
    pub scope: String,
    /// The labels of the stacks that it is limited to.
    pub labels: Option<String>,
    /// Whom it speaks for.
    pub r#for: Option<String>,
    /// Who made it.
    pub by: super::SignedView,
    /// When it stops to hold.
    pub expires_at: String,
    /// `valid`, `expired` or `revoked`.
    pub state: String,
    /// Who revoked it.
    pub revoked: Option<super::SignedView>,
}

/// A token that was made.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
pub struct TokenMade {
    /// Its text, which is shown this once.
    pub text: String,
    /// The token.
    pub token: TokenItem,
}
