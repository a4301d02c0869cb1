//! The bots under whose tokens Slack's methods may be called: those of the providers that deliver to Slack.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use yuba_core::declared::DeclaredSpec;
use yuba_core::notify::{Provider, ProviderSpec, Service};
use yuba_core::slack::api::method;
use yuba_core::spec::ValuesKind;
use yuba_core::time::Span;

use crate::error::PortError;
use crate::http::HttpRequest;
use crate::ports::Ports;
use crate::records::page;
use crate::store::{Order, Query};

/// How many providers are read.
const MOST: usize = 100;

/// A bot of an installed app.
#[derive(Debug, Clone)]
pub struct Bot {
    /// What the provider's address is.
    address: Option<String>,
    token: SecretString,
}

impl Bot {
    fn of(spec: &ProviderSpec, values: &BTreeMap<String, SecretString>) -> Option<Self> {
        let value = |key: &str| {
            let trimmed = values.get(key).map(|value| value.expose_secret().trim().to_owned());
            trimmed.filter(|value| !value.is_empty())
        };
        let address = value("address").or_else(|| spec.address.clone());
        Some(Self { address, token: value("token")?.into() })
    }

    /// A call of one of Slack's methods.
    pub fn call(&self, name: &str, body: &Value, timeout: Span) -> HttpRequest {
        let bearer = format!("Bearer {}", self.token.expose_secret());
        let json = "application/json; charset=utf-8".to_owned();
        HttpRequest {
            url: method(self.address.as_deref(), name).into(),
            headers: vec![
                ("authorization".to_owned(), bearer.into()),
                ("content-type".to_owned(), json.into()),
            ],
            body: body.to_string().into_bytes(),
            timeout,
            signing: None,
        }
    }
}

/// The bots, in the order of the providers' names.
pub async fn bots(ports: &Ports) -> Result<Vec<Bot>, PortError> {
    let (partition, prefix) = (ProviderSpec::PARTITION.to_owned(), String::new());
    let query = Query::Partition { partition, prefix, order: Order::Ascending, after: None, limit: MOST };
    let (providers, _) = page::<Provider>(&*ports.store, query).await?;
    let of_slack = |provider: &ProviderSpec| provider.service == Service::Slack && !provider.suspend;
    let mut bots = Vec::new();
    for provider in providers.iter().filter(|known| known.vanished.is_none() && of_slack(&known.spec)) {
        let Some(secret) = &provider.spec.secret else { continue };
        let values = ports.secrets.get(ValuesKind::Secret, secret).await?;
        bots.extend(values.and_then(|values| Bot::of(&provider.spec, &values.values)));
    }
    Ok(bots)
}
