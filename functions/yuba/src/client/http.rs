//! Talking to a server: JSON over HTTP with the token, problems turned into what people read.

use std::fmt::Write;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use yuba_api::wire::{Asked, List, ProblemBody, RequestState};

use crate::done::WrongArguments;

/// How long a server may take to take a connection.
const CONNECTING: Duration = Duration::from_secs(10);
/// How long a server may say nothing. It answers waits after 20 s, and sends a comment in streams before that.
const SILENCE: Duration = Duration::from_mins(1);

/// A server, and the token it asks for.
pub(crate) struct Client {
    http: reqwest::Client,
    server: String,
    token: Option<SecretString>,
}

/// What became of something that was asked for.
pub(crate) enum Answer {
    /// Carried out.
    Done(RequestState),
    /// Refused, with why.
    Refused(String),
}

impl Client {
    /// A client of the server at a URL.
    pub(crate) fn new(server: &str, token: Option<SecretString>) -> Self {
        Self::with_patience(server, token, CONNECTING, SILENCE)
    }

    fn with_patience(
        server: &str,
        token: Option<SecretString>,
        connecting: Duration,
        silence: Duration,
    ) -> Self {
        let patient = reqwest::Client::builder().connect_timeout(connecting).read_timeout(silence);
        // Without a working TLS set-up the default would fail in the same way, where it is used.
        let http = patient.build().unwrap_or_default();
        Self { http, server: server.trim_end_matches('/').to_owned(), token }
    }

    /// A request with the token.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.server));
        match &self.token {
            Some(token) => request.bearer_auth(token.expose_secret()),
            None => request,
        }
    }

    /// Sends a request; anything but success is an error that says what the server said.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Response> {
        let response = self.exchange(request).await?;
        if response.status().is_success() { Ok(response) } else { Err(wrong(response).await) }
    }

    async fn exchange(&self, request: RequestBuilder) -> Result<Response> {
        request.send().await.with_context(|| {
            format!("no server answers at {}; `yuba serve` starts one, --server names another", self.server)
        })
    }

    /// Reads JSON.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, String)]) -> Result<T> {
        let response = self.send(self.request(Method::GET, &with_query(path, query))).await?;
        response.json().await.with_context(|| format!("the answer of {path} cannot be read"))
    }

    /// Reads a list to its end, or to a number of items.
    pub(crate) async fn list<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, String)],
        most: usize,
    ) -> Result<Vec<T>> {
        self.list_those(path, query, most, |_| true).await
    }

    /// Reads of a list those items that are wanted, to its end or to a number of them.
    pub(crate) async fn list_those<T: DeserializeOwned>(
        &self,
        path: &str,
        query: &[(&str, String)],
        most: usize,
        wanted: impl Fn(&T) -> bool,
    ) -> Result<Vec<T>> {
        let (mut items, mut query) = (Vec::new(), query.to_vec());
        loop {
            let page: List<T> = self.get(path, &query).await?;
            items.extend(page.items.into_iter().filter(&wanted));
            query.retain(|(name, _)| *name != "cursor");
            match page.next {
                Some(next) if items.len() < most => query.push(("cursor", next)),
                _ => break,
            }
        }
        items.truncate(most);
        Ok(items)
    }

    /// Asks for a change and waits until it is decided.
    pub(crate) async fn ask(&self, method: Method, path: &str, body: &impl Serialize) -> Result<Answer> {
        let response = self.exchange(self.request(method, path).json(body)).await?;
        if response.status() == StatusCode::CONFLICT {
            return Ok(Answer::Refused(problem(response).await));
        }
        if !response.status().is_success() {
            return Err(wrong(response).await);
        }
        let asked: Asked = response.json().await.context("the answer cannot be read")?;
        self.outcome(&asked.location).await
    }

    async fn outcome(&self, location: &str) -> Result<Answer> {
        loop {
            let state: RequestState = self.get(location, &[("wait", "20s".to_owned())]).await?;
            match state.outcome.as_str() {
                "done" => return Ok(Answer::Done(state)),
                "refused" => return Ok(Answer::Refused(state.message)),
                _ => {}
            }
        }
    }
}

/// A path with a query string.
fn with_query(path: &str, query: &[(&str, String)]) -> String {
    let pairs: Vec<String> = query.iter().map(|(name, value)| format!("{name}={}", encode(value))).collect();
    if pairs.is_empty() { path.to_owned() } else { format!("{path}?{}", pairs.join("&")) }
}

/// Percent-encodes all but the unreserved characters of RFC 3986.
pub(crate) fn encode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// What a server said was wrong. Where it understood the request and its content is none, the arguments are.
async fn wrong(response: Response) -> anyhow::Error {
    let status = response.status();
    let problem = problem(response).await;
    match status {
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => WrongArguments(problem).into(),
        _ => anyhow!(problem),
    }
}

/// What a server said.
async fn problem(response: Response) -> String {
    let (status, path) = (response.status(), response.url().path().to_owned());
    match response.json::<ProblemBody>().await {
        Ok(ProblemBody { detail, help: Some(help), .. }) => format!("{detail}\n  {help}"),
        Ok(ProblemBody { detail, .. }) => detail,
        Err(_) => {
            format!("the server answered {status} to {path}; `yuba --version` on both sides may differ")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::time::{Duration, Instant};

    use serde_json::Value;
    use tokio::net::TcpSocket;

    use super::{Client, with_query};

    /// Longer than any test takes.
    const LONG: Duration = Duration::from_hours(1);
    const SHORT: Duration = Duration::from_millis(200);

    /// What a client says that asked for something, after it had waited.
    async fn gives_up(server: &str, connecting: Duration, silence: Duration) -> String {
        let client = Client::with_patience(server, None, connecting, silence);
        let begun = Instant::now();
        let error = client.get::<Value>("/api/v1/stacks", &[]).await.unwrap_err();
        assert!(begun.elapsed() >= SHORT, "{error:#}");
        format!("{error:#}")
    }

    #[tokio::test]
    async fn a_server_that_takes_no_connection_is_given_up() {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let full = socket.listen(1).unwrap();
        let address = full.local_addr().unwrap();
        let mut waiting = Vec::new();
        // Those that fit into its queue are connected at once; one that is not shows that no more fit.
        while let Ok(Ok(stream)) = tokio::time::timeout(SHORT, tokio::net::TcpStream::connect(address)).await
        {
            waiting.push(stream);
        }
        let said = gives_up(&format!("http://{address}"), SHORT, LONG).await;
        assert!(said.starts_with(&format!("no server answers at http://{address}; ")), "{said}");
    }

    #[tokio::test]
    async fn a_server_that_falls_silent_is_given_up_before_and_within_its_answer() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let said = gives_up(&format!("http://{}", silent.local_addr().unwrap()), LONG, SHORT).await;
        assert!(said.starts_with("no server answers at http://127.0.0.1:"), "{said}");
        let talks = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = talks.local_addr().unwrap();
        let stream = std::thread::spawn(move || {
            let (mut stream, _) = talks.accept().unwrap();
            assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{").unwrap();
            stream
        });
        let said = gives_up(&format!("http://{address}"), LONG, SHORT).await;
        assert!(said.starts_with("the answer of /api/v1/stacks cannot be read"), "{said}");
        stream.join().unwrap();
    }

    #[test]
    fn query_values_are_encoded() {
        assert_eq!(
            with_query("/a", &[("labels", "team=a b,x!=y".to_owned())]),
            "/a?labels=team%3Da%20b%2Cx%21%3Dy"
        );
        assert_eq!(with_query("/a", &[]), "/a");
    }
}
