//! `Http`: requests to addresses that people wrote into manifests and secrets.

use std::fmt;

use async_trait::async_trait;
use secrecy::SecretString;
use yuba_core::time::Span;

/// Sends requests. It follows no redirect, and reads no more of an answer than tells what became of the request.
#[async_trait]
pub trait Http: Send + Sync {
    /// Posts a body; whatever status comes back is an answer.
    async fn post(&self, request: &HttpRequest) -> Result<HttpAnswer, NoAnswer>;
}

/// A `POST`. Address and headers may hold tokens: neither is shown.
#[derive(Clone)]
pub struct HttpRequest {
    /// The address; that of an incoming webhook is a secret itself.
    pub url: SecretString,
    /// Headers by name, beside those of the connection.
    pub headers: Vec<(String, SecretString)>,
    /// The body.
    pub body: Vec<u8>,
    /// Bounds all of it, from the look-up of the name to the end of the answer.
    pub timeout: Span,
    /// How it is signed, where AWS is to take it.
    pub signing: Option<Signing>,
}

/// Signs a request as AWS' services want it: Signature Version 4.
/// <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html>
#[derive(Clone)]
pub struct Signing {
    /// The service, as signatures name it: `sns`, `events`.
    pub service: &'static str,
    /// The region: `eu-central-1`.
    pub region: String,
    /// Whose rights are used; without them the process' own.
    pub keys: Option<AccessKeys>,
}

/// Access keys of AWS.
#[derive(Clone)]
pub struct AccessKeys {
    /// Names the key; no secret.
    pub id: String,
    /// The key.
    pub secret: SecretString,
    /// Beside keys that expire.
    pub session: Option<SecretString>,
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HttpRequest").field("bytes", &self.body.len()).finish_non_exhaustive()
    }
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// `Retry-After`, where it names a span.
    pub retry_after: Option<Span>,
    /// The beginning of the body, at most 64 KiB.
    pub body: Vec<u8>,
}

/// Why no answer came. No text holds more of the address than its host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// The address is none, or one that must not be reached.
    #[error("{0}")]
    Refused(String),
    /// Nobody answered in time.
    #[error("{0}")]
    Unreachable(String),
}
