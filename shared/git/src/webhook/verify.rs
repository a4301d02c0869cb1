//! Signatures: HMAC-SHA256 over the raw bytes of the body, compared in constant time.
//!
//! GitHub: <https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries>. Flux:
//! <https://fluxcd.io/flux/components/notification/receivers/#generic-hmac>.

use hmac::{Hmac, KeyInit, Mac};
use http::HeaderMap;
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;

/// Who signs, and in which header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// GitHub: `X-Hub-Signature-256: sha256=<hex>`.
    GitHub,
    /// Gitea and Forgejo: `X-Gitea-Signature: <hex>` or `X-Forgejo-Signature: <hex>`.
    Gitea,
    /// Anything else: `X-Yuba-Signature: sha256=<hex>`, or Flux's `X-Signature: sha256=<hex>`.
    Generic,
}

impl Scheme {
    fn headers(self) -> &'static [&'static str] {
        match self {
            Self::GitHub => &["x-hub-signature-256"],
            Self::Gitea => &["x-gitea-signature", "x-forgejo-signature"],
            Self::Generic => &["x-yuba-signature", "x-signature"],
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Self::Gitea => "",
            Self::GitHub | Self::Generic => "sha256=",
        }
    }
}

/// A body whose signature was right. Only [`verify`] makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified<Body> {
    body: Body,
    scheme: Scheme,
}

impl<Body> Verified<Body> {
    /// The body.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The scheme that it was verified by.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }
}

/// Why a request is not believed (401). Says nothing about the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unverified {
    /// No signature.
    #[error(
        "the request has no signature: header {expected} is missing; set the webhook's secret at the sender"
    )]
    Missing {
        /// The header that was expected.
        expected: &'static str,
    },
    /// A signature of another scheme.
    #[error(
        "header {found} is not a signature of this endpoint's scheme, which is {expected} with HMAC-SHA256"
    )]
    OtherScheme {
        /// The header that was found.
        found: &'static str,
        /// The header that was expected.
        expected: &'static str,
    },
    /// A header that holds no signature.
    #[error("header {header} is not of the form `{form}<64 hex digits>`")]
    Malformed {
        /// The header.
        header: &'static str,
        /// What stands before the digits.
        form: &'static str,
    },
    /// The signature does not fit the body.
    #[error(
        "the signature in {header} does not fit the body: the secret differs, or the body was changed on its way"
    )]
    Wrong {
        /// The header.
        header: &'static str,
    },
}

/// Headers of other schemes, so that a wrongly set up webhook is told what is wrong.
const OTHERS: [&str; 7] = [
    "x-hub-signature-256",
    "x-hub-signature",
    "x-gitea-signature",
    "x-forgejo-signature",
    "x-gitlab-token",
    "x-slack-signature",
    "x-signature",
];

/// Checks a body against its signature. Several secrets may be valid at once, while one replaces another.
pub fn verify<Body: AsRef<[u8]>>(
    scheme: Scheme,
    headers: &HeaderMap,
    body: Body,
    secrets: &[SecretString],
) -> Result<Verified<Body>, Unverified> {
    let found = scheme.headers().iter().find_map(|name| headers.get(*name).map(|value| (*name, value)));
    let Some((header, value)) = found else { return Err(missing(scheme, headers)) };
    let malformed = || Unverified::Malformed { header, form: scheme.prefix() };
    let value = value.to_str().map_err(|_| malformed())?.trim();
    let digits = value.strip_prefix(scheme.prefix()).ok_or_else(malformed)?;
    let signature: [u8; 32] =
        hex::decode(digits).ok().and_then(|bytes| bytes.try_into().ok()).ok_or_else(malformed)?;
    // Every secret is tried, also after one has fitted, so that time tells nothing.
    let fitting = secrets.iter().filter(|secret| fits(secret, body.as_ref(), &signature)).count();
    if fitting == 0 {
        return Err(Unverified::Wrong { header });
    }
    Ok(Verified { body, scheme })
}

/// The value of the generic scheme's `X-Yuba-Signature` for a body; `None` for an empty secret, which signs nothing.
pub fn sign(body: &[u8], secret: &SecretString) -> Option<String> {
    let secret = secret.expose_secret().as_bytes();
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok().filter(|_| !secret.is_empty())?;
    mac.update(body);
    Some(format!("{}{}", Scheme::Generic.prefix(), hex::encode(mac.finalize().into_bytes())))
}

fn missing(scheme: Scheme, headers: &HeaderMap) -> Unverified {
    let expected = scheme.headers().first().copied().unwrap_or_default();
    match OTHERS.into_iter().find(|name| headers.contains_key(*name)) {
        Some(found) => Unverified::OtherScheme { found, expected },
        None => Unverified::Missing { expected },
    }
}

/// An empty secret fits nothing: it would let everybody sign.
fn fits(secret: &SecretString, body: &[u8], signature: &[u8; 32]) -> bool {
    let secret = secret.expose_secret().as_bytes();
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return false };
    mac.update(body);
    mac.verify_slice(signature).is_ok() && !secret.is_empty()
}
