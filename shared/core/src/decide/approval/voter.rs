//! Who approves, as rules count.

use crate::people::{Person, Team, who};
use crate::request::Signed;

/// Who approves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Voter {
    /// A human whom a team knows.
    Person(Person),
    /// Whoever holds the API's token: one human, whatever names they give.
    TokenHolder,
    /// Somebody whom no team knows, and the name that a service vouches for.
    Stranger(String),
}

impl Voter {
    /// Who signed.
    pub(super) fn of(by: &Signed, teams: &[Team]) -> Self {
        let Some(identity) = &by.identity else { return Self::TokenHolder };
        who(teams, identity).map_or_else(|| Self::Stranger(identity.to_string()), Self::Person)
    }

    /// Whether this is the same human.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Person(one), Self::Person(other)) => one.is(other),
            (Self::TokenHolder, Self::TokenHolder) => true,
            (Self::Stranger(one), Self::Stranger(other)) => one == other,
            _ => false,
        }
    }
}
