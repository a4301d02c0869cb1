//! The services that deliver: each turns a notice into a request, and an answer into what became of it. Both are pure.

mod aws;
mod commit_status;
mod eventbridge;
mod generic;
mod generic_hmac;
mod github;
mod gitlab;
mod jira;
mod msteams;
mod opsgenie;
mod pagerduty;
mod slack_bot;
mod slack_card;
mod slack_webhook;
mod sns;
#[cfg(test)]
mod tests_kit;
mod trouble;
mod words;

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};
use yuba_core::notify::{Mend, ProviderSpec, Service as Named, SlackMessage, Undelivered};
use yuba_core::time::Span;
use yuba_ports::{HttpAnswer, HttpRequest};

use crate::notice::Notice;
use crate::settings::NotifierSettings;

/// How long a delivery may take where the manifest does not say.
const TIMEOUT: Span = Span::seconds(15);
/// The longest that a manifest may ask for: less than a message to the notifier is hidden for.
const LONGEST_TIMEOUT: Span = Span::minutes(1);

/// Delivers by one service, for one provider.
pub(crate) trait Service: Send + Sync {
    /// The request that tells a notice; `None` where nothing is to be sent.
    fn request(&self, notice: &Notice) -> Option<HttpRequest>;

    /// What an answer means.
    fn heard(&self, answer: &HttpAnswer) -> Result<Heard, Undelivered>;

    /// What follows from the answer to a notice's request of this number, counted from 0: of most services, nothing.
    fn follow(&self, _notice: &Notice, _request: usize, answer: &HttpAnswer) -> Result<Step, Undelivered> {
        self.heard(answer).map(Step::Over)
    }

    /// Whether one message tells all that happened to a run.
    fn shows_runs(&self) -> bool {
        false
    }

    /// Digest of what the message of the notice's run shows, where the service edits it in place.
    fn shown(&self, _notice: &Notice) -> Option<String> {
        None
    }
}

/// What follows from an answer.
#[derive(Debug)]
pub(crate) enum Step {
    /// Nothing: this came of the notice.
    Over(Heard),
    /// Another request.
    Then(Box<HttpRequest>),
}

/// What an answer says where nothing went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heard {
    /// The message was taken.
    Taken,
    /// The message was taken, and is this one from now on.
    Posted(SlackMessage),
    /// The message that was to be edited is gone.
    Gone,
}

/// The values of a provider's secret.
#[derive(Debug, Default)]
pub(crate) struct Values(pub(crate) BTreeMap<String, SecretString>);

impl Values {
    /// A value that is set.
    fn get(&self, key: &str) -> Option<SecretString> {
        let trimmed = |value: &SecretString| SecretString::from(value.expose_secret().trim());
        self.0.get(key).map(trimmed).filter(|value| !value.expose_secret().is_empty())
    }
}

/// What every service is set up with.
#[derive(Clone)]
struct Outlet {
    address: SecretString,
    headers: Vec<(String, SecretString)>,
    timeout: Span,
}

impl Outlet {
    fn post(&self, body: Vec<u8>) -> HttpRequest {
        HttpRequest {
            url: self.address.clone(),
            headers: self.headers.clone(),
            body,
            timeout: self.timeout,
            signing: None,
        }
    }
}

/// The service that delivers for a provider; or why none can.
pub(crate) fn of(
    settings: &NotifierSettings,
    spec: &ProviderSpec,
    values: &Values,
) -> Result<Box<dyn Service>, Undelivered> {
    if spec.suspend {
        return Err(Undelivered::new(Mend::Nothing, "the provider is suspended by its manifest"));
    }
    match (&spec.service, values.get("token")) {
        (Named::Slack, Some(token)) => Ok(Box::new(slack_bot::SlackBot::of(settings, spec, values, &token)?)),
        (Named::Slack, None) => Ok(Box::new(slack_webhook::SlackWebhook::of(settings, spec, values)?)),
        (Named::Generic, _) => Ok(Box::new(generic::Generic::of(outlet(spec, values)?))),
        (Named::GenericHmac, Some(key)) => {
            Ok(Box::new(generic_hmac::GenericHmac::of(outlet(spec, values)?, &key)?))
        }
        (Named::GenericHmac, None) => Err(lacks(spec, "token", "the key that messages are signed with")),
        (Named::PagerDuty, token) => {
            Ok(Box::new(pagerduty::PagerDuty::of(settings, spec, values, token.as_ref())?))
        }
        (Named::Opsgenie, Some(token)) => {
            Ok(Box::new(opsgenie::Opsgenie::of(settings, spec, values, &token)))
        }
        (Named::Opsgenie, None) => Err(lacks(spec, "token", "the key of an API integration")),
        (Named::MsTeams, _) => Ok(Box::new(msteams::MsTeams::of(settings, outlet(spec, values)?))),
        (Named::GitHub, Some(token)) => {
            Ok(Box::new(github::GitHub::of(settings, outlet(spec, values)?, &token)?))
        }
        (Named::GitLab, Some(token)) => {
            Ok(Box::new(gitlab::GitLab::of(settings, outlet(spec, values)?, &token)?))
        }
        (Named::GitHub | Named::GitLab, None) => {
            Err(lacks(spec, "token", "an access token that may write commit statuses"))
        }
        (Named::Jira, Some(token)) => {
            Ok(Box::new(jira::Jira::of(settings, spec, outlet(spec, values)?, &token)?))
        }
        (Named::Jira, None) => Err(lacks(spec, "token", "an API token, or a personal access token")),
        (Named::Sns, _) => Ok(Box::new(sns::Sns::of(settings, spec, values)?)),
        (Named::EventBridge, _) => Ok(Box::new(eventbridge::EventBridge::of(settings, spec, values)?)),
        (Named::Other(name), _) => {
            Err(Undelivered::new(Mend::Nothing, format!("`{name}` is not delivered yet")))
        }
    }
}

/// Where a provider's messages go, by its secret or else its manifest.
fn outlet(spec: &ProviderSpec, values: &Values) -> Result<Outlet, Undelivered> {
    let address = values.get("address").or_else(|| spec.address.clone().map(SecretString::from));
    let address = address.ok_or_else(|| lacks(spec, "address", "the address that messages are sent to"))?;
    Ok(Outlet { address, headers: headers(values)?, timeout: timeout(spec) })
}

fn timeout(spec: &ProviderSpec) -> Span {
    spec.timeout.unwrap_or(TIMEOUT).min(LONGEST_TIMEOUT)
}

/// What the secret lacks, and how it is given.
fn lacks(spec: &ProviderSpec, key: &str, what: &str) -> Undelivered {
    let why = match &spec.secret {
        Some(name) => format!(
            "secret {name} has no `{key}`, {what}: `yuba secret set {name} {key}=-` takes it from standard input"
        ),
        None => format!("spec.secretRef names no secret: its `{key}` is {what}"),
    };
    Undelivered::new(Mend::Settings, why)
}

/// The secret's `headers`: a line each, `Name: value`.
fn headers(values: &Values) -> Result<Vec<(String, SecretString)>, Undelivered> {
    let Some(text) = values.get("headers") else { return Ok(Vec::new()) };
    let lines = text.expose_secret().lines().map(str::trim).filter(|line| !line.is_empty());
    let header = |line: &str| {
        let (name, value) = line.split_once(':').ok_or_else(|| {
            Undelivered::new(Mend::Settings, "the secret's `headers` are to be lines of `Name: value`")
        })?;
        Ok((name.trim().to_owned(), SecretString::from(value.trim().trim_matches(['"', '\'']))))
    };
    lines.map(header).collect()
}
