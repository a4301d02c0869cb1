//! Whoever asks, and what they may.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::id::InvalidId;
use crate::people::Identity;
use crate::request::Ask;
use crate::selector::Selector;

/// How much somebody may do. Each holds all that those before it hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Look.
    Read,
    /// Decide about plans and drift, and ask for plans.
    Approve,
    /// Everything.
    Admin,
}

impl Scope {
    /// All there are, the least first.
    pub const ALL: [Self; 3] = [Self::Read, Self::Approve, Self::Admin];

    /// As people type it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Approve => "approve",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = InvalidId;
    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let found = Self::ALL.into_iter().find(|scope| scope.as_str() == text);
        found.ok_or_else(|| InvalidId { found: text.to_owned(), expected: "`read`, `approve` or `admin`" })
    }
}

/// What a request about a stack needs, whichever route it came by.
pub fn scope_of(ask: &Ask) -> Scope {
    match ask {
        Ask::Approve { .. }
        | Ask::Reject
        | Ask::Reconcile
        | Ask::Replan
        | Ask::CheckDrift
        | Ask::IgnoreDrift { .. }
        | Ask::AcknowledgeDrift
        | Ask::Cancel { .. } => Scope::Approve,
        Ask::Suspend
        | Ask::Resume
        | Ask::Destroy
        | Ask::Adopt(_)
        | Ask::Unlock { .. }
        | Ask::Recover { .. } => Scope::Admin,
    }
}

/// Whoever asks the API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// What they are called in records; none for the installation's own token, whose holders say who they are.
    pub called: Option<String>,
    /// What they may do.
    pub scope: Scope,
    /// The labels of the stacks that they may do it with; none for all stacks, and what concerns no stack.
    pub labels: Option<Selector>,
    /// The human they speak for.
    pub identity: Option<Identity>,
}

/// Why somebody may not do something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// Their scope is too small.
    #[error("this needs the scope `{needed}`, and {who} has `{has}`")]
    Scope {
        /// Who.
        who: String,
        /// What they have.
        has: Scope,
        /// What they would need.
        needed: Scope,
    },
    /// The stack does not carry the labels.
    #[error("{who} is limited to stacks with the labels `{labels}`, which this one does not carry")]
    Labels {
        /// Who.
        who: String,
        /// Their limit.
        labels: Selector,
    },
    /// It concerns more than the stacks with the labels.
    #[error("{who} is limited to stacks with the labels `{labels}`, and this concerns more than those")]
    Wider {
        /// Who.
        who: String,
        /// Their limit.
        labels: Selector,
    },
}

impl Caller {
    /// Whoever holds the installation's own token.
    pub fn installation() -> Self {
        Self { called: None, scope: Scope::Admin, labels: None, identity: None }
    }

    /// Whether they may do what needs a scope.
    ///
    /// # Errors
    /// Their scope is too small.
    pub fn may(&self, needed: Scope) -> Result<(), Denied> {
        if self.scope >= needed {
            return Ok(());
        }
        Err(Denied::Scope { who: self.who(), has: self.scope, needed })
    }

    /// Whether they may look at, or do something with, a stack of these labels.
    ///
    /// # Errors
    /// They are limited to others.
    pub fn reaches(&self, labels: &BTreeMap<String, String>) -> Result<(), Denied> {
        match &self.labels {
            Some(limit) if !limit.takes(labels) => {
                Err(Denied::Labels { who: self.who(), labels: limit.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Whether they may do what concerns more than single stacks.
    ///
    /// # Errors
    /// They are limited to some stacks.
    pub fn reaches_all(&self) -> Result<(), Denied> {
        match &self.labels {
            Some(limit) => Err(Denied::Wider { who: self.who(), labels: limit.clone() }),
            None => Ok(()),
        }
    }

    /// What records call them; `claimed` counts where they may say themselves who they are.
    pub fn signs_as(&self, claimed: Option<String>) -> String {
        let claimed = claimed.filter(|text| !text.trim().is_empty() && self.called.is_none());
        claimed.unwrap_or_else(|| self.who())
    }

    fn who(&self) -> String {
        self.called.clone().unwrap_or_else(|| "token holder".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;
    use crate::id::RunId;
    use crate::request::Adoption;

    fn caller(scope: Scope, labels: Option<&str>) -> Caller {
        let labels = labels.map(|text| text.parse().unwrap());
        Caller { called: Some("token ci".to_owned()), scope, labels, identity: None }
    }

    #[test]
    fn each_scope_holds_what_those_before_it_hold_and_no_more() {
        use Scope::{Admin, Approve, Read};
        for (has, may) in [(Read, [true, false, false]), (Approve, [true, true, false]), (Admin, [true; 3])] {
            assert_eq!(Scope::ALL.map(|needed| caller(has, None).may(needed).is_ok()), may, "{has}");
        }
        let denied = caller(Read, None).may(Admin).unwrap_err().to_string();
        assert_eq!(denied, "this needs the scope `admin`, and token ci has `read`");
    }

    #[test]
    fn what_decides_needs_approve_and_what_does_more_needs_admin() {
        let run = RunId(Ulid::from_parts(1, 1));
        let approving = [
            Ask::Approve { plan: None, digest: None },
            Ask::Reject,
            Ask::Reconcile,
            Ask::Replan,
            Ask::CheckDrift,
            Ask::IgnoreDrift { hours: 1 },
            Ask::AcknowledgeDrift,
            Ask::Cancel { run: None },
        ];
        let administering = [
            Ask::Suspend,
            Ask::Resume,
            Ask::Destroy,
            Ask::Adopt(Adoption::New),
            Ask::Unlock { lock: String::new() },
            Ask::Recover { run },
        ];
        assert!(approving.iter().all(|ask| scope_of(ask) == Scope::Approve));
        assert!(administering.iter().all(|ask| scope_of(ask) == Scope::Admin));
    }

    #[test]
    fn a_limit_takes_stacks_with_its_labels_and_nothing_wider() {
        let carrying = BTreeMap::from([("env".to_owned(), "prod".to_owned())]);
        let limited = caller(Scope::Admin, Some("env=prod"));
        assert!(limited.reaches(&carrying).is_ok());
        assert!(limited.reaches(&BTreeMap::new()).is_err() && limited.reaches_all().is_err());
        let unlimited = caller(Scope::Read, None);
        assert!(unlimited.reaches(&BTreeMap::new()).is_ok() && unlimited.reaches_all().is_ok());
    }

    #[test]
    fn only_the_installation_s_own_token_lets_its_holder_say_who_they_are() {
        let claimed = || Some("eve".to_owned());
        assert_eq!(Caller::installation().signs_as(claimed()), "eve");
        assert_eq!(Caller::installation().signs_as(Some(" ".to_owned())), "token holder");
        assert_eq!(caller(Scope::Admin, None).signs_as(claimed()), "token ci");
    }
}
