//! `Http` over the network.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use secrecy::ExposeSecret;
use yuba_core::time::Span;
use yuba_ports::{AccessKeys, Http, HttpAnswer, HttpRequest, NoAnswer};

use crate::public::is_public;
use crate::sigv4::sign;

/// How much of an answer is read.
const MOST_BYTES: usize = 64 * 1024;
/// What a body is that does not say so.
const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");

/// Whether addresses outside the public network may be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivateAddresses {
    /// They are refused.
    Refused,
    /// They may: for installations whose receivers lie beside them.
    Allowed,
}

/// Written `refused` or `allowed`.
impl FromStr for PrivateAddresses {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "refused" => Ok(Self::Refused),
            "allowed" => Ok(Self::Allowed),
            other => Err(format!("`{other}` is neither `refused` nor `allowed`")),
        }
    }
}

/// Requests over the network.
#[derive(Clone)]
pub struct WebClient {
    client: Client,
    private: PrivateAddresses,
    keys: Option<AccessKeys>,
}

/// A client could not be made: the system's certificates cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("no client for the web could be made")]
pub struct NoClient(#[source] reqwest::Error);

impl WebClient {
    /// A client; nothing is connected yet.
    pub fn new(private: PrivateAddresses) -> Result<Self, NoClient> {
        let builder = Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .user_agent(concat!("yuba/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(Arc::new(Resolver(private)));
        Ok(Self { client: builder.build().map_err(NoClient)?, private, keys: None })
    }

    /// The same, but that requests are signed with these keys where they bring none.
    #[must_use]
    pub fn signing_with(self, keys: Option<AccessKeys>) -> Self {
        Self { keys, ..self }
    }
}

#[async_trait]
impl Http for WebClient {
    async fn post(&self, request: &HttpRequest) -> Result<HttpAnswer, NoAnswer> {
        let url = address(request.url.expose_secret(), self.private)?;
        let host = url.host_str().unwrap_or_default().to_owned();
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, JSON)]);
        for (name, value) in &request.headers {
            let (name, value) = header(name, value.expose_secret())?;
            headers.insert(name, value);
        }
        if let Some(signing) = &request.signing {
            #[expect(
                clippy::disallowed_methods,
                reason = "a signature is good for the minutes around its own time"
            )]
            let now = SystemTime::now();
            sign(&url, &mut headers, &request.body, (signing, self.keys.as_ref()), now)?;
        }
        let post = self.client.post(url).headers(headers);
        match post.timeout(request.timeout.to_std()).body(request.body.clone()).send().await {
            Ok(response) => answer(response, &host).await,
            Err(error) => Err(no_answer(error, &host)),
        }
    }
}

/// An address that may be reached, as far as it says so itself.
fn address(text: &str, private: PrivateAddresses) -> Result<Url, NoAnswer> {
    let Ok(url) = Url::parse(text) else {
        return Err(NoAnswer::Refused("the address is no URL such as https://host/path".to_owned()));
    };
    let Some(host) = url.host_str().filter(|_| ["http", "https"].contains(&url.scheme())) else {
        return Err(NoAnswer::Refused("the address is no URL of http or https".to_owned()));
    };
    // What is written as a number is never looked up.
    let literal: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    match literal {
        Some(address) if private == PrivateAddresses::Refused && !is_public(address) => {
            Err(NoAnswer::Refused(Private(host.to_owned()).to_string()))
        }
        _ => Ok(url),
    }
}

pub(crate) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), NoAnswer> {
    let refused = || NoAnswer::Refused(format!("the header `{}` cannot be sent", name.escape_debug()));
    let name: HeaderName = name.parse().map_err(|_| refused())?;
    let mut value = HeaderValue::from_str(value).map_err(|_| refused())?;
    value.set_sensitive(true);
    Ok((name, value))
}

async fn answer(mut response: Response, host: &str) -> Result<HttpAnswer, NoAnswer> {
    let status = response.status().as_u16();
    let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let retry_after = retry_after.and_then(|text| text.trim().parse::<u32>().ok());
    let mut body = Vec::new();
    while body.len() < MOST_BYTES
        && let Some(chunk) = response.chunk().await.map_err(|error| no_answer(error, host))?
    {
        body.extend_from_slice(&chunk);
    }
    body.truncate(MOST_BYTES);
    Ok(HttpAnswer { status, retry_after: retry_after.map(|seconds| Span::seconds(i64::from(seconds))), body })
}

/// Why no answer came: the innermost cause says it best, and no text of the client's that shows the address.
fn no_answer(error: reqwest::Error, host: &str) -> NoAnswer {
    let is_timeout = error.is_timeout();
    let error = error.without_url();
    let mut innermost: &dyn Error = &error;
    while let Some(beneath) = innermost.source() {
        if let Some(private) = innermost.downcast_ref::<Private>() {
            return NoAnswer::Refused(private.to_string());
        }
        innermost = beneath;
    }
    match innermost.downcast_ref::<Private>() {
        Some(private) => NoAnswer::Refused(private.to_string()),
        None if is_timeout => NoAnswer::Unreachable(format!("{host} did not answer in time")),
        None => NoAnswer::Unreachable(format!("{host} cannot be reached: {innermost}")),
    }
}

/// The address is not of the public network.
#[derive(Debug, thiserror::Error)]
#[error(
    "{0} lies in a private network, which is not reached; start the server with --allow-private-webhooks where it should be"
)]
struct Private(String);

/// Looks names up, and gives out public addresses alone.
struct Resolver(PrivateAddresses);

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let private = self.0;
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let may_be_reached =
                |address: &SocketAddr| private == PrivateAddresses::Allowed || is_public(address.ip());
            let usable: Vec<SocketAddr> = found.into_iter().filter(may_be_reached).collect();
            if usable.is_empty() {
                return Err(Private(name.as_str().to_owned()).into());
            }
            Ok::<Addrs, _>(Box::new(usable.into_iter()))
        })
    }
}
