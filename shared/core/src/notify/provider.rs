//! Providers: where messages go.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::declared::{Declared, DeclaredSpec};
use crate::id::SecretName;
use crate::time::Span;

/// A `Provider` manifest as it was taken over.
pub type Provider = Declared<ProviderSpec>;

/// What a `Provider` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderSpec {
    /// Which service delivers.
    pub service: Service,
    /// Where to: an address of the web. One in the secret, under `address`, is used in its place.
    pub address: Option<String>,
    /// The channel.
    pub channel: Option<String>,
    /// The name that messages are sent under.
    pub username: Option<String>,
    /// Bounds one delivery.
    pub timeout: Option<Span>,
    /// The secret with `token`, `address` or `headers`.
    pub secret: Option<SecretName>,
    /// Nothing is sent while it is true.
    pub suspend: bool,
}

impl DeclaredSpec for ProviderSpec {
    const KIND: &'static str = "Provider";
    const PARTITION: &'static str = "providers";
    const SCHEMA: u32 = 1;
}

/// A service that delivers messages, by the name that manifests give it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Service {
    /// Slack: with a bot's token, or through an incoming webhook.
    Slack,
    /// Any web address: JSON in the form that Flux sends.
    Generic,
    /// The same with a signature.
    GenericHmac,
    /// PagerDuty: incidents through Events API v2.
    PagerDuty,
    /// Opsgenie: alerts.
    Opsgenie,
    /// Microsoft Teams: adaptive cards.
    MsTeams,
    /// GitHub: commit statuses.
    GitHub,
    /// GitLab: commit statuses.
    GitLab,
    /// Jira: an issue for whatever is wrong.
    Jira,
    /// A topic of SNS.
    Sns,
    /// A bus of `EventBridge`.
    EventBridge,
    /// One that is not delivered by yet.
    Other(String),
}

impl Service {
    /// The names of those that deliver.
    pub const DELIVERING: [&'static str; 11] = [
        "slack",
        "generic",
        "generic-hmac",
        "pagerduty",
        "opsgenie",
        "msteams",
        "github",
        "gitlab",
        "jira",
        "sns",
        "eventbridge",
    ];

    /// The names of those that manifests may hold, and that deliver nothing yet.
    pub const TO_COME: [&'static str; 23] = [
        "alertmanager",
        "azuredevops",
        "azureeventhub",
        "bitbucket",
        "bitbucketserver",
        "datadog",
        "discord",
        "gitea",
        "giteapullrequestcomment",
        "githubdispatch",
        "githubpullrequestcomment",
        "gitlabmergerequestcomment",
        "googlechat",
        "googlepubsub",
        "grafana",
        "lark",
        "matrix",
        "nats",
        "otel",
        "rocket",
        "sentry",
        "telegram",
        "webex",
    ];

    /// Whether what it shows of a run is drawn again when that has changed, whatever severity an alert asks for.
    pub fn shows_runs(&self) -> bool {
        matches!(self, Self::Slack | Self::GitHub | Self::GitLab)
    }

    /// Whether it keeps an incident open for as long as something is wrong: it must be told of the end too.
    pub fn keeps_incidents(&self) -> bool {
        matches!(self, Self::PagerDuty | Self::Opsgenie | Self::Jira)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Slack => "slack",
            Self::Generic => "generic",
            Self::GenericHmac => "generic-hmac",
            Self::PagerDuty => "pagerduty",
            Self::Opsgenie => "opsgenie",
            Self::MsTeams => "msteams",
            Self::GitHub => "github",
            Self::GitLab => "gitlab",
            Self::Jira => "jira",
            Self::Sns => "sns",
            Self::EventBridge => "eventbridge",
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for Service {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl From<String> for Service {
    fn from(name: String) -> Self {
        match name.as_str() {
            "slack" => Self::Slack,
            "generic" => Self::Generic,
            "generic-hmac" => Self::GenericHmac,
            "pagerduty" => Self::PagerDuty,
            "opsgenie" => Self::Opsgenie,
            "msteams" => Self::MsTeams,
            "github" => Self::GitHub,
            "gitlab" => Self::GitLab,
            "jira" => Self::Jira,
            "sns" => Self::Sns,
            "eventbridge" => Self::EventBridge,
            _ => Self::Other(name),
        }
    }
}

impl From<Service> for String {
    fn from(service: Service) -> Self {
        service.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_goes_by_one_name() {
        for name in Service::DELIVERING {
            let service = Service::from(name.to_owned());
            assert!(!matches!(service, Service::Other(_)), "{name}");
            assert_eq!(service.as_str(), name);
        }
        for name in Service::TO_COME {
            assert_eq!(Service::from(name.to_owned()), Service::Other(name.to_owned()));
        }
    }
}
