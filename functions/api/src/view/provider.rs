//! How a provider fares, for people.

use yuba_core::notify::{NoticeState, Notification, Provider, ProviderHealth, Service};

use crate::wire::{ProviderItem, RequestState};

/// What a provider still has to send, and what it will not.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Backlog {
    /// How many wait.
    pub(crate) pending: usize,
    /// How many were given up.
    pub(crate) given_up: usize,
}

/// A provider.
pub(crate) fn provider(provider: &Provider, health: &ProviderHealth, backlog: Backlog) -> ProviderItem {
    let (ready, status) = readiness(provider, health);
    ProviderItem {
        namespace: provider.name.namespace.clone(),
        name: provider.name.name.clone(),
        r#type: provider.spec.service.to_string(),
        ready: ready.to_owned(),
        status,
        last_success: health.last_success.map(|at| at.to_string()),
        last_error: health.last_error.as_ref().map(|error| error.why.clone()),
        last_error_at: health.last_error.as_ref().map(|error| error.at.to_string()),
        held_until: health.held_until.map(|until| until.to_string()),
        pending: backlog.pending,
        given_up: backlog.given_up,
    }
}

fn readiness(provider: &Provider, health: &ProviderHealth) -> (&'static str, String) {
    if let Service::Other(name) = &provider.spec.service {
        return ("False", format!("`{name}` is not delivered yet: nothing is sent by it"));
    }
    if provider.spec.suspend {
        return ("Unknown", "Suspended by its manifest".to_owned());
    }
    match (health.trouble(), health.last_success) {
        (Some(error), _) => ("False", error.why.clone()),
        (None, Some(_)) => ("True", "Took the last message".to_owned()),
        (None, None) => {
            ("Unknown", format!("Nothing was sent yet; `yuba notify test {}` tries it", provider.name))
        }
    }
}

/// What became of the try of a provider.
pub(crate) fn test(id: String, test: &Notification) -> RequestState {
    let (outcome, message) = match test.state {
        NoticeState::Pending { .. } => ("pending", "not sent yet".to_owned()),
        NoticeState::Sent { .. } => ("done", "the provider took the message".to_owned()),
        NoticeState::GivenUp { .. } => ("refused", test.trouble.clone().unwrap_or_default()),
    };
    RequestState { id, outcome: outcome.to_owned(), message, run: None, run_to_come: false }
}

#[cfg(test)]
mod tests {
    use yuba_core::id::{ManifestSetName, ObjectName};
    use yuba_core::notify::{Mend, ProviderSpec, Undelivered};
    use yuba_core::time::Timestamp;

    use super::*;

    fn shown(service: &str, change: impl FnOnce(&mut Provider, &mut ProviderHealth)) -> String {
        let name = ObjectName::new("infra", "chat");
        let spec = ProviderSpec {
            service: Service::from(service.to_owned()),
            address: None,
            channel: None,
            username: None,
            timeout: None,
            secret: None,
            suspend: false,
        };
        let (set, place) = (ManifestSetName("flux".to_owned()), String::new());
        let mut known = Provider { name: name.clone(), spec, set, snapshot: 1, place, vanished: None };
        let mut health = ProviderHealth::new(name);
        change(&mut known, &mut health);
        let item = provider(&known, &health, Backlog::default());
        format!("{}: {}", item.ready, item.status)
    }

    #[test]
    fn a_provider_says_why_it_is_not_ready() {
        let failed = |health: &mut ProviderHealth, at| {
            health.failed(&Undelivered::new(Mend::Settings, "Slack says `invalid_auth`"), Timestamp(at));
        };
        let said = [
            shown("slack", |_, _| ()),
            shown("slack", |_, health| health.succeeded(Timestamp(1))),
            shown("slack", |_, health| failed(health, 1)),
            shown("slack", |_, health| {
                failed(health, 1);
                health.succeeded(Timestamp(2));
            }),
            shown("slack", |provider, _| provider.spec.suspend = true),
            shown("telegram", |_, _| ()),
        ];
        insta::assert_snapshot!(said.join("\n"), @r"
        Unknown: Nothing was sent yet; `yuba notify test infra/chat` tries it
        True: Took the last message
        False: Slack says `invalid_auth`
        True: Took the last message
        Unknown: Suspended by its manifest
        False: `telegram` is not delivered yet: nothing is sent by it
        ");
    }
}
