//! Slack's signatures: HMAC-SHA256 over `v0:<timestamp>:<raw body>`, compared in constant time.
//!
//! <https://api.slack.com/authentication/verifying-requests-from-slack>

use axum::http::HeaderMap;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha2::Sha256;
use yuba_core::slack::came::OLDEST;
use yuba_core::time::Timestamp;

const TIMESTAMP: &str = "x-slack-request-timestamp";
const SIGNATURE: &str = "x-slack-signature";

/// A body whose signature was right and fresh. Only [`verify`] makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verified<'a> {
    body: &'a [u8],
    signature: [u8; 32],
}

impl<'a> Verified<'a> {
    pub(crate) fn body(&self) -> &'a [u8] {
        self.body
    }

    /// Names this very request: Slack never signs two alike.
    pub(crate) fn signature(&self) -> String {
        hex::encode(self.signature)
    }
}

/// Why a request is not believed. Says nothing about the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unverified {
    #[error("this server has no signing secret of Slack; start it with --slack-signing-secret-file")]
    NoSecret,
    #[error("header {0} is missing: this endpoint takes what Slack signs")]
    Missing(&'static str),
    #[error("header {0} is not of the form that Slack sends")]
    Malformed(&'static str),
    #[error(
        "the request was signed more than five minutes ago, or in the future: is this server's clock right?"
    )]
    Stale,
    #[error(
        "the signature does not fit the body: the app's signing secret differs, or the body was changed on its way"
    )]
    Wrong,
    #[error("the request came before")]
    Replayed,
}

/// Checks a body against its signature and its age. Several secrets may be valid at once, while one replaces another.
pub(crate) fn verify<'a>(
    headers: &HeaderMap,
    body: &'a [u8],
    secrets: &[SecretString],
    now: Timestamp,
) -> Result<Verified<'a>, Unverified> {
    if secrets.is_empty() {
        return Err(Unverified::NoSecret);
    }
    let stamp = text(headers, TIMESTAMP)?;
    let digits = text(headers, SIGNATURE)?.strip_prefix("v0=").ok_or(Unverified::Malformed(SIGNATURE))?;
    let signature: [u8; 32] = hex::decode(digits)
        .ok()
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or(Unverified::Malformed(SIGNATURE))?;
    let seconds: i64 = stamp.parse().map_err(|_| Unverified::Malformed(TIMESTAMP))?;
    let signed_at = Timestamp(seconds.saturating_mul(1000));
    // Every secret is tried, also after one has fitted, so that time tells nothing.
    let fitting = secrets
        .iter()
        .filter(|secret| mac(secret, stamp, body).is_some_and(|mac| mac.verify_slice(&signature).is_ok()));
    if fitting.count() == 0 {
        return Err(Unverified::Wrong);
    }
    if now.since(signed_at) > OLDEST || signed_at.since(now) > OLDEST {
        return Err(Unverified::Stale);
    }
    Ok(Verified { body, signature })
}

/// The value of `X-Slack-Signature` for a body sent at this second; `None` for an empty secret, which signs nothing.
pub fn sign(secret: &SecretString, timestamp: &str, body: &[u8]) -> Option<String> {
    let signature = mac(secret, timestamp, body)?.finalize().into_bytes();
    Some(format!("v0={}", hex::encode(signature)))
}

fn mac(secret: &SecretString, timestamp: &str, body: &[u8]) -> Option<Hmac<Sha256>> {
    let secret = secret.expose_secret().as_bytes();
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok().filter(|_| !secret.is_empty())?;
    for part in [b"v0:", timestamp.as_bytes(), b":", body] {
        mac.update(part);
    }
    Some(mac)
}

fn text<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<&'a str, Unverified> {
    let value = headers.get(name).ok_or(Unverified::Missing(name))?;
    value.to_str().map(str::trim).map_err(|_| Unverified::Malformed(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Slack's documentation signs.
    const SECRET: &str = "8f742231b10e8888abcd99yyyzzz85a5";
    const BODY: &str = "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const STAMP: &str = "1531420618";
    const SIGNED: &str = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503";

    fn headers(stamp: &str, signature: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(TIMESTAMP, stamp.parse().unwrap());
        headers.insert(SIGNATURE, signature.parse().unwrap());
        headers
    }

    fn check(headers: &HeaderMap, secret: &str, seconds_later: i64) -> Result<(), Unverified> {
        let now = Timestamp((STAMP.parse::<i64>().unwrap() + seconds_later) * 1000);
        verify(headers, BODY.as_bytes(), &["old".into(), secret.into()], now).map(drop)
    }

    #[test]
    fn known_signatures_fit() {
        assert_eq!(sign(&SECRET.into(), STAMP, BODY.as_bytes()).as_deref(), Some(SIGNED));
        let other = sign(&"fa2c05deeef5a4077494e89f54394de0".into(), STAMP, b"test-body");
        let known = "v0=baa91ef62d346e56607bbdd278a8acd570b91226854f15a382f43d33be42f666";
        assert_eq!(other.as_deref(), Some(known));
        assert_eq!(sign(&"".into(), STAMP, b""), None);
        assert_eq!(check(&headers(STAMP, SIGNED), SECRET, 299), Ok(()));
    }

    #[test]
    fn what_is_wrong_is_refused_for_what_is_wrong_with_it() {
        assert_eq!(check(&headers(STAMP, SIGNED), SECRET, 301), Err(Unverified::Stale));
        assert_eq!(check(&headers(STAMP, SIGNED), SECRET, -301), Err(Unverified::Stale));
        assert_eq!(check(&headers(STAMP, SIGNED), "another", 0), Err(Unverified::Wrong));
        assert_eq!(check(&headers("1531420619", SIGNED), SECRET, 0), Err(Unverified::Wrong));
        assert_eq!(check(&headers(STAMP, "v0=a2"), SECRET, 0), Err(Unverified::Malformed(SIGNATURE)));
        assert_eq!(check(&headers(STAMP, "sha256=a2"), SECRET, 0), Err(Unverified::Malformed(SIGNATURE)));
        assert_eq!(check(&HeaderMap::new(), SECRET, 0), Err(Unverified::Missing(TIMESTAMP)));
        let now = Timestamp(0);
        assert_eq!(verify(&HeaderMap::new(), b"", &[], now), Err(Unverified::NoSecret));
    }
}
