//! The conversation with `tasks`: claim, heartbeat, report.
//!
//! The server may be killed and come back elsewhere while an attempt runs: the address is looked up before each
//! request, and what must get through is sent again until it does.

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;
use yuba_ports::chain;

use crate::settings::Address;

/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// How long one request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// Why the server did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerError {
    /// It refused; asking again changes nothing.
    #[error("refused with {status}: {why}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What the server said.
        why: String,
    },
    /// It cannot be reached, or is in trouble.
    #[error("{0}")]
    Away(String),
    /// It will never come back: its data directory was removed.
    #[error("{0} was removed: nobody is left to report to")]
    Gone(String),
}

/// The `tasks` function, as a task reaches it.
#[derive(Debug)]
pub(crate) struct Server {
    http: reqwest::Client,
    address: Address,
}

impl Server {
    /// A server at an address.
    pub(crate) fn new(address: Address) -> Result<Self, ServerError> {
        let http = reqwest::Client::builder()
            .timeout(REQUEST_TIMEOUT)
            .no_proxy()
            .build()
            .map_err(|error| ServerError::Away(format!("no HTTP client: {error}")))?;
        Ok(Self { http, address })
    }

    /// Sends one request.
    pub(crate) async fn post<B: Serialize + Sync, T: DeserializeOwned>(
        &self,
        path: &str,
        token: &SecretString,
        body: &B,
    ) -> Result<T, ServerError> {
        let url = format!("{}{path}", self.base()?);
        let request = self.http.post(&url).bearer_auth(token.expose_secret()).json(body);
        let away = |error: reqwest::Error| ServerError::Away(format!("{url}: {}", chain(&error)));
        let response = request.send().await.map_err(away)?;
        let status = response.status();
        if status.is_success() {
            return response.json().await.map_err(away);
        }
        let why = response.json::<Value>().await.ok();
        let why = why.as_ref().and_then(|body| body.get("error")?.as_str()).unwrap_or("no reason given");
        if status.is_client_error() && status.as_u16() != 429 && status.as_u16() != 408 {
            return Err(ServerError::Refused { status: status.as_u16(), why: why.to_owned() });
        }
        Err(ServerError::Away(format!("{url}: {status}: {why}")))
    }

    /// Sends a request again and again while the server is away, for at most `patience`.
    pub(crate) async fn insist<B: Serialize + Sync, T: DeserializeOwned>(
        &self,
        path: &str,
        token: &SecretString,
        body: &B,
        patience: Duration,
    ) -> Result<T, ServerError> {
        let until = Instant::now() + patience;
        let mut wait = Duration::from_millis(100);
        loop {
            match self.post(path, token, body).await {
                Err(ServerError::Away(why)) if Instant::now() < until => {
                    tracing::warn!(path, why, "the server is away");
                }
                outcome => return outcome,
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    fn base(&self) -> Result<String, ServerError> {
        let url = match &self.address {
            Address::Fixed(url) => url.clone(),
            Address::File(path) => std::fs::read_to_string(path).map_err(|error| {
                match path.parent().filter(|directory| !directory.exists()) {
                    Some(directory) => ServerError::Gone(directory.display().to_string()),
                    None => ServerError::Away(format!(
                        "the server's address is not in {}: {error}",
                        path.display()
                    )),
                }
            })?,
        };
        Ok(url.trim().trim_end_matches('/').to_owned())
    }
}
