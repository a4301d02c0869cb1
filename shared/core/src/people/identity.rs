//! The names under which services know people.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A name that a service vouches for. Two that are written alike name one human.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Identity {
    /// An e-mail address, in lower case.
    Email(String),
    /// A login at a Git host, in lower case.
    Login {
        /// The host, as webhooks name it: `github`.
        host: String,
        /// The login there.
        login: String,
    },
    /// A user's id in Slack: `U02ABCDEF`.
    Slack(String),
    /// The ARN of an IAM user or role.
    IamArn(String),
}

impl Identity {
    /// An e-mail address, however it is written.
    pub fn email(address: &str) -> Self {
        Self::Email(address.trim().to_lowercase())
    }

    /// A login at a host, however it is written.
    pub fn login(host: &str, login: &str) -> Self {
        Self::Login { host: host.trim().to_lowercase(), login: login.trim().to_lowercase() }
    }

    /// A user of Slack.
    pub fn slack(user: &str) -> Self {
        Self::Slack(user.trim().to_owned())
    }

    /// The address in `Name <address>`, as Git writes authors.
    pub fn of_author(author: &str) -> Option<Self> {
        let (_, address) = author.trim().strip_suffix('>')?.rsplit_once('<')?;
        (!address.trim().is_empty()).then(|| Self::email(address))
    }

    /// Whether commits and pushes are known by names of this kind.
    pub fn is_of_git(&self) -> bool {
        matches!(self, Self::Email(_) | Self::Login { .. })
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Email(address) => formatter.write_str(address),
            Self::Login { host, login } => write!(formatter, "{login} of {host}"),
            Self::Slack(user) => write!(formatter, "{user} of Slack"),
            Self::IamArn(arn) => formatter.write_str(arn),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_services_hold_for_equal_are_equal() {
        assert_eq!(Identity::email(" Ada@Example.com"), Identity::email("ada@example.com"));
        assert_eq!(Identity::login("GitHub", "Ada"), Identity::login("github", "ada"));
        assert_ne!(Identity::login("gitea", "ada"), Identity::login("github", "ada"));
    }

    #[test]
    fn an_author_is_known_by_the_address() {
        let ada = Some(Identity::email("ada@example.com"));
        assert_eq!(Identity::of_author("Ada <Lovelace> <ada@Example.com>"), ada);
        assert_eq!(Identity::of_author("ada"), None);
        assert_eq!(Identity::of_author("ada <>"), None);
    }
}
