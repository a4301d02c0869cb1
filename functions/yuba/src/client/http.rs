//! Talking to a server: JSON over HTTP with the token, problems turned into what people read.

use std::fmt::Write;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use yuba_api::wire::{Asked, List, ProblemBody, RequestState};
use yuba_core::time::Span;

use super::tell;
use crate::done::WrongArguments;

/// How long a server is waited for.
#[derive(Debug, Clone, Copy)]
struct Patience {
    /// How long it may take to take a connection.
    connecting: Duration,
    /// How long it may say nothing. It answers waits after 20 s, and sends a comment in streams before that.
    silence: Duration,
    /// After how long people are told that what they asked for is not decided yet.
    told: Duration,
    /// How long a decision is waited for.
    decision: Duration,
}

const PATIENCE: Patience = Patience {
    connecting: Duration::from_secs(10),
    silence: Duration::from_mins(1),
    told: Duration::from_secs(5),
    decision: Duration::from_mins(1),
};

/// The longest wait that a server is asked for at once: shorter than the silence that is borne.
const ONE_WAIT: Duration = Duration::from_secs(20);

/// A server, and the token it asks for.
pub(crate) struct Client {
    http: reqwest::Client,
    server: String,
    token: Option<SecretString>,
    patience: Patience,
}

/// What became of something that was asked for.
pub(crate) enum Answer {
    /// Carried out.
    Done(RequestState),
    /// Refused, with why.
    Refused(String),
    /// Accepted; the server did not decide it in time, and may do so later.
    Undecided,
}

impl Client {
    /// A client of the server at a URL.
    pub(crate) fn new(server: &str, token: Option<SecretString>) -> Self {
        Self::with_patience(server, token, PATIENCE)
    }

    fn with_patience(server: &str, token: Option<SecretString>, patience: Patience) -> Self {
        let builder = reqwest::Client::builder();
        let patient = builder.connect_timeout(patience.connecting).read_timeout(patience.silence);
        // Without a working TLS set-up the default would fail in the same way, where it is used.
        let http = patient.build().unwrap_or_default();
        Self { http, server: server.trim_end_matches('/').to_owned(), token, patience }
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

    /// Reads JSON, or why that is refused.
    pub(crate) async fn get_unless_refused<T: DeserializeOwned>(
        &self,
        path: &str,
    ) -> Result<Result<T, String>> {
        let response = self.exchange(self.request(Method::GET, path)).await?;
        match response.status() {
            StatusCode::CONFLICT => Ok(Err(problem(response).await)),
            status if status.is_success() => {
                let read = response.json().await;
                Ok(Ok(read.with_context(|| format!("the answer of {path} cannot be read"))?))
            }
            _ => Err(wrong(response).await),
        }
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

    /// Asks for a change and waits until it is decided, for a minute at most.
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
        let begun = Instant::now();
        let mut bounds = [self.patience.told, self.patience.decision].into_iter();
        let mut bound = bounds.next();
        while let Some(until) = bound {
            let left = until.saturating_sub(begun.elapsed()).min(ONE_WAIT);
            let state: RequestState = self.get(location, &[("wait", wait(left))]).await?;
            match state.outcome.as_str() {
                "done" => return Ok(Answer::Done(state)),
                "refused" => return Ok(Answer::Refused(state.message)),
                _ if begun.elapsed() < until => {}
                _ => {
                    bound = bounds.next();
                    bound.inspect(|_| tell("accepted, and not decided yet: still waiting for the server"));
                }
            }
        }
        Ok(Answer::Undecided)
    }
}

/// A wait as the server reads it, rounded up: it is never over before the time is.
fn wait(left: Duration) -> String {
    let millis = i64::try_from(left.as_millis()).unwrap_or(i64::MAX);
    Span(millis.saturating_add(1)).to_string()
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

    use super::{Answer, Client, PATIENCE, Patience, with_query};

    /// Longer than any test takes.
    const LONG: Duration = Duration::from_hours(1);
    const SHORT: Duration = Duration::from_millis(200);

    /// What a client says that asked for something, after it had waited.
    async fn gives_up(server: &str, connecting: Duration, silence: Duration) -> String {
        let client = Client::with_patience(server, None, Patience { connecting, silence, ..PATIENCE });
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

    /// A server that answers each request of a connection of its own with the same JSON.
    fn says(body: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                assert!(stream.read(&mut [0; 1024]).unwrap() > 0);
                let head =
                    format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
                stream.write_all(format!("{head}\r\n{body}").as_bytes()).unwrap();
            }
        });
        format!("http://{address}")
    }

    #[tokio::test]
    async fn what_a_server_never_decides_is_waited_for_no_longer_than_is_borne() {
        let server = says(r#"{"id":"1","outcome":"pending","message":"","run":null}"#);
        let patience = Patience { told: SHORT, decision: 2 * SHORT, ..PATIENCE };
        let client = Client::with_patience(&server, None, patience);
        let begun = Instant::now();
        let answer = tokio::time::timeout(LONG, client.outcome("/api/v1/requests/1")).await.unwrap();
        assert!(matches!(answer, Ok(Answer::Undecided)));
        assert!(begun.elapsed() >= 2 * SHORT && begun.elapsed() < 50 * SHORT);
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
