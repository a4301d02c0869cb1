//! Where the engine's AWS clients ask for the stack's role, as often as they like, so that an apply may outlive its first
//! credentials: an endpoint on 127.0.0.1 that answers to a token of its own, in the form of ECS' container credentials.
//! <https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html>

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::{Arc, PoisonError, RwLock};

use axum::Router;
use axum::extract::State;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::task::JoinHandle;
use yuba_core::task::Lease;

use crate::ended::{Ended, Step};

const PATH: &str = "/role";

/// The variables that hold a session of STS.
const SESSION: [&str; 3] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"];

/// An endpoint that serves as long as it lives.
#[derive(Debug)]
pub(crate) struct CredentialEndpoint {
    shared: Arc<Shared>,
    port: u16,
    serving: JoinHandle<()>,
}

struct Shared {
    token: String,
    answer: RwLock<String>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Shared")
    }
}

impl CredentialEndpoint {
    /// Takes the credentials that end out of an environment, and serves them; `None` where there are none.
    /// Within a runtime.
    pub(crate) fn instead_of(
        credentials: &mut BTreeMap<String, String>,
        lease: Option<Lease>,
    ) -> Step<Option<Self>> {
        let Some(answer) = lease.and_then(|lease| answer(credentials, lease)) else { return Ok(None) };
        let refused = |error: std::io::Error| {
            Ended::transient(format!("the role's credentials cannot be served on 127.0.0.1: {error}"))
        };
        let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let port = listener.local_addr().map_err(refused)?.port();
        let listener = tokio::net::TcpListener::from_std(listener).map_err(refused)?;
        let token = hex::encode(rand::random::<[u8; 32]>());
        let shared = Arc::new(Shared { token, answer: RwLock::new(answer) });
        let routes = Router::new().route(PATH, get(tell)).with_state(shared.clone());
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, routes).await {
                tracing::error!(%error, "serving the role's credentials ended");
            }
        });
        credentials.retain(|name, _| !SESSION.contains(&name.as_str()));
        Ok(Some(Self { shared, port, serving }))
    }

    /// The variables by which clients find it.
    pub(crate) fn environment(&self) -> [(String, String); 2] {
        let url = format!("http://127.0.0.1:{}{PATH}", self.port);
        [
            ("AWS_CONTAINER_CREDENTIALS_FULL_URI".to_owned(), url),
            ("AWS_CONTAINER_AUTHORIZATION_TOKEN".to_owned(), self.shared.token.clone()),
        ]
    }

    /// Serves these from now on.
    pub(crate) fn renew(&self, credentials: &BTreeMap<String, String>, lease: Lease) {
        if let Some(answer) = answer(credentials, lease) {
            *self.shared.answer.write().unwrap_or_else(PoisonError::into_inner) = answer;
        }
    }
}

impl Drop for CredentialEndpoint {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn answer(credentials: &BTreeMap<String, String>, lease: Lease) -> Option<String> {
    let [Some(id), Some(secret), Some(token)] = SESSION.map(|name| credentials.get(name)) else {
        return None;
    };
    let expire = lease.expire.to_string();
    Some(
        json!({"AccessKeyId": id, "SecretAccessKey": secret, "Token": token, "Expiration": expire})
            .to_string(),
    )
}

async fn tell(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    let shown = headers.get(AUTHORIZATION).map(|value| Sha256::digest(value.as_bytes()));
    // Of digests: how long comparing takes tells nothing of the token.
    if shown != Some(Sha256::digest(shared.token.as_bytes())) {
        let why = json!({"code": "AccessDenied", "message": "the token is not the one of this endpoint"});
        return (StatusCode::UNAUTHORIZED, [(CONTENT_TYPE, "application/json")], why.to_string())
            .into_response();
    }
    let answer = shared.answer.read().unwrap_or_else(PoisonError::into_inner).clone();
    ([(CONTENT_TYPE, "application/json")], answer).into_response()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use yuba_core::time::{Span, Timestamp};

    use super::*;

    fn session(token: &str) -> BTreeMap<String, String> {
        let values = ["ASIA1", "s", token];
        let session = SESSION.iter().zip(values).map(|(name, value)| ((*name).to_owned(), value.to_owned()));
        session.chain([("AWS_REGION".to_owned(), "eu-1".to_owned())]).collect()
    }

    fn lease() -> Lease {
        Lease { expire: Timestamp(1_896_000_000_000), renew_after: Span::minutes(45) }
    }

    /// Its status, and the session token that it tells.
    async fn ask(url: &str, token: &str) -> (u16, Value) {
        let answer = reqwest::Client::new().get(url).header("authorization", token).send().await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.json::<Value>().await.unwrap())
    }

    #[tokio::test]
    async fn the_role_is_told_to_who_has_the_token_and_follows_renewals() {
        let mut environment = session("one");
        let endpoint = CredentialEndpoint::instead_of(&mut environment, Some(lease())).unwrap().unwrap();
        assert_eq!(environment.keys().collect::<Vec<_>>(), ["AWS_REGION"]);
        let [(_, url), (_, token)] = endpoint.environment();
        let (status, told) = ask(&url, &token).await;
        assert_eq!((status, &told["Token"]), (200, &json!("one")));
        assert_eq!(told["Expiration"], "2030-01-30T10:40:00Z");
        endpoint.renew(&session("two"), lease());
        assert_eq!(ask(&url, &token).await.1["Token"], "two");
        for wrong in ["", "x", &token[1..], &format!("{token}0")] {
            let (status, told) = ask(&url, wrong).await;
            assert_eq!((status, &told["Token"]), (401, &Value::Null), "{wrong}");
        }
    }

    #[tokio::test]
    async fn what_does_not_end_stays_in_the_environment() {
        let mut environment = session("one");
        assert!(CredentialEndpoint::instead_of(&mut environment, None).unwrap().is_none());
        assert_eq!(environment.len(), 4);
    }
}
