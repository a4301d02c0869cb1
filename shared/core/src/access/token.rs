//! Tokens for the API that people make for people and programs. Only the digest of what is secret in them is stored.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Caller, Scope};
use crate::id::{ApiTokenId, InvalidId};
use crate::people::Identity;
use crate::record::{Index, IndexEntry, Key, Record};
use crate::request::Signed;
use crate::selector::Selector;
use crate::time::{Span, Timestamp};

/// The partition of all tokens.
pub const TOKENS: &str = "tokens";

/// For how long it stays known that there was a token, once it has expired.
const KEPT: Span = Span::hours(30 * 24);

/// How many bytes of chance a token holds.
pub const SECRET_BYTES: usize = 32;

/// What people call a token: 1 to 63 of `a-z`, `0-9`, `.`, `_` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TokenName(String);

impl FromStr for TokenName {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let allowed =
            |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "._-".contains(letter);
        if (1..=63).contains(&text.len()) && text.chars().all(allowed) {
            return Ok(Self(text.to_owned()));
        }
        Err(InvalidId { found: text.to_owned(), expected: "1 to 63 of `a-z`, `0-9`, `.`, `_` and `-`" })
    }
}

impl TryFrom<String> for TokenName {
    type Error = InvalidId;
    fn try_from(text: String) -> Result<Self, InvalidId> {
        text.parse()
    }
}

impl From<TokenName> for String {
    fn from(name: TokenName) -> Self {
        name.0
    }
}

impl fmt::Display for TokenName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// For how long a token holds: `90d`, or a duration; more than nothing, and a year at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetime(pub Span);

impl Default for Lifetime {
    fn default() -> Self {
        Self(Span::hours(90 * 24))
    }
}

impl FromStr for Lifetime {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = || InvalidId {
            found: text.to_owned(),
            expected: "days or a duration of at most a year: `90d`, `12h`",
        };
        let span = match text.strip_suffix('d').map(str::parse::<u16>) {
            Some(days) => Span::hours(i64::from(days.map_err(|_| invalid())?) * 24),
            None => text.parse().map_err(|_| invalid())?,
        };
        if span > Span::ZERO && span <= Span::hours(365 * 24) { Ok(Self(span)) } else { Err(invalid()) }
    }
}

/// A token, without what is secret in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiToken {
    /// Its id, which stands in its text.
    pub id: ApiTokenId,
    /// What people call it; no two that hold at one time are called alike.
    pub name: TokenName,
    /// SHA-256 of the secret, in hexadecimal digits.
    pub digest: String,
    /// What its bearer may do.
    pub scope: Scope,
    /// The labels of the stacks that its bearer may do it with; none for no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Selector>,
    /// The human whom its bearer speaks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// Who made it, when.
    pub by: Signed,
    /// When it stops to hold.
    pub expires: Timestamp,
    /// Who revoked it, when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked: Option<Signed>,
}

impl Record for ApiToken {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::api_token(self.id)
    }
    fn indexes(&self) -> Vec<IndexEntry> {
        vec![IndexEntry::at(Index::Expires, self.expires + KEPT)]
    }
}

/// Why a token gives nothing. All but the first say that the secret was right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenRefused {
    /// There is none with this secret.
    #[error("the request carries no valid token")]
    Unknown,
    /// It was revoked.
    #[error("the token {0} was revoked at {1}")]
    Revoked(TokenName, Timestamp),
    /// It expired.
    #[error("the token {0} expired at {1}")]
    Expired(TokenName, Timestamp),
}

impl ApiToken {
    /// The digest that is stored of a secret.
    pub fn digest_of(secret: &str) -> String {
        hex::encode(Sha256::digest(secret))
    }

    /// Whether it holds at a time.
    pub fn holds(&self, now: Timestamp) -> bool {
        self.revoked.is_none() && now < self.expires
    }

    fn caller(&self) -> Caller {
        let called =
            self.identity.as_ref().map_or_else(|| format!("token {}", self.name), ToString::to_string);
        let (labels, identity) = (self.labels.clone(), self.identity.clone());
        Caller { called: Some(called), scope: self.scope, labels, identity }
    }
}

/// The text of a token, which is shown once: `yuba_<id>_<secret>`.
pub fn token_text(id: ApiTokenId, secret: &str) -> String {
    format!("yuba_{id}_{secret}")
}

/// A text that has the form of a token.
#[derive(Clone, PartialEq, Eq)]
pub struct Presented {
    /// Which token it claims to be.
    pub id: ApiTokenId,
    digest: String,
}

impl Presented {
    /// Reads a text.
    pub fn read(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix("yuba_")?.split_once('_')?;
        Some(Self { id: id.parse().ok()?, digest: ApiToken::digest_of(secret) })
    }

    /// Who presents it, given what is stored under its id. Every byte of the digest is looked at before anything else
    /// is, and a token that is not there takes as long as one with another secret.
    ///
    /// # Errors
    /// There is none with this secret, or it holds no more.
    pub fn caller(&self, stored: Option<&ApiToken>, now: Timestamp) -> Result<Caller, TokenRefused> {
        let expected = stored.map_or_else(|| "-".repeat(64), |token| token.digest.clone());
        let same = expected.len() == self.digest.len()
            && expected
                .bytes()
                .zip(self.digest.bytes())
                .fold(0, |differing, (one, other)| differing | (one ^ other))
                == 0;
        let token = stored.filter(|token| same && token.id == self.id).ok_or(TokenRefused::Unknown)?;
        match &token.revoked {
            Some(by) => Err(TokenRefused::Revoked(token.name.clone(), by.at)),
            None if now >= token.expires => Err(TokenRefused::Expired(token.name.clone(), token.expires)),
            None => Ok(token.caller()),
        }
    }
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;

    fn signed(at: i64) -> Signed {
        let (who, from) = ("ada".to_owned(), "cli".to_owned());
        Signed { who, at: Timestamp(at), from, message: String::new(), identity: None }
    }

    fn token() -> ApiToken {
        ApiToken {
            id: ApiTokenId(Ulid::from_parts(1, 1)),
            name: "ci".parse().unwrap(),
            digest: ApiToken::digest_of("right"),
            scope: Scope::Approve,
            labels: None,
            identity: None,
            by: signed(0),
            expires: Timestamp(100),
            revoked: None,
        }
    }

    fn presented(secret: &str) -> Presented {
        Presented::read(&token_text(token().id, secret)).unwrap()
    }

    #[test]
    fn only_the_right_secret_is_told_why_a_token_holds_no_more() {
        let revoked = ApiToken { revoked: Some(signed(5)), ..token() };
        let now = Timestamp(99);
        assert_eq!(presented("right").caller(Some(&token()), now).unwrap().signs_as(None), "token ci");
        let refused =
            |secret, token: Option<&ApiToken>, now| presented(secret).caller(token, now).unwrap_err();
        assert_eq!(refused("right", None, now), TokenRefused::Unknown);
        for at in [now, Timestamp(100)] {
            assert_eq!(refused("wrong", Some(&token()), at), TokenRefused::Unknown);
            assert_eq!(refused("wrong", Some(&revoked), at), TokenRefused::Unknown);
        }
        assert!(matches!(refused("right", Some(&token()), Timestamp(100)), TokenRefused::Expired(..)));
        assert!(matches!(refused("right", Some(&revoked), now), TokenRefused::Revoked(..)));
        let other = ApiToken { id: ApiTokenId(Ulid::from_parts(1, 2)), ..token() };
        assert_eq!(refused("right", Some(&other), now), TokenRefused::Unknown);
    }

    #[test]
    fn a_token_that_speaks_for_a_human_signs_with_their_name() {
        let of_ada = ApiToken { identity: Some(Identity::email("Ada@example.com")), ..token() };
        let caller = presented("right").caller(Some(&of_ada), Timestamp(0)).unwrap();
        assert_eq!(caller.signs_as(Some("bob".to_owned())), "ada@example.com");
        assert_eq!(caller.identity, Some(Identity::email("ada@example.com")));
    }

    #[test]
    fn texts_of_another_form_are_no_tokens() {
        for text in ["", "yuba_", "yuba_x_y", "other_01J00000000000000000000000_x"] {
            assert!(Presented::read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_token_holds_for_more_than_nothing_and_a_year_at_most() {
        for (text, hours) in [("90d", 2160), ("365d", 8760), ("12h", 12)] {
            assert_eq!(text.parse(), Ok(Lifetime(Span::hours(hours))), "{text}");
        }
        for text in ["", "0d", "366d", "8761h", "-1d", "d", "1y"] {
            assert!(text.parse::<Lifetime>().is_err(), "{text}");
        }
    }
}
