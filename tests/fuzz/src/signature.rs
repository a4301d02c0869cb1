//! Signatures, by whoever sends them. `{signature}` in a header stands for the right digits.

use http::{HeaderMap, HeaderValue};
use secrecy::SecretString;
use yuba_git::webhook::{Scheme, sign, verify};

use crate::head::headers_and_body;

/// Has headers and a body verified under each scheme.
pub fn target(data: &[u8]) {
    let (headers, body) = headers_and_body(data);
    let secrets = [SecretString::from("the secret of a host"), SecretString::from("")];
    let signed = sign(body, &secrets[0]).expect("a secret that is not empty signs");
    let digits = signed.trim_start_matches("sha256=");
    let headers: HeaderMap =
        headers.iter().map(|(name, value)| (name.clone(), filled_in(value, digits))).collect();
    for scheme in [Scheme::GitHub, Scheme::Gitea, Scheme::Generic] {
        let is_believed = verify(scheme, &headers, body, &secrets).is_ok();
        let is_signed = headers.values().any(|value| holds(value, digits));
        assert!(is_signed || !is_believed, "believed without a signature: {headers:?}");
    }
}

fn filled_in(value: &HeaderValue, digits: &str) -> HeaderValue {
    let text = value.to_str().map(|text| text.replacen("{signature}", digits, 1));
    text.ok().and_then(|text| HeaderValue::from_str(&text).ok()).unwrap_or_else(|| value.clone())
}

fn holds(value: &HeaderValue, digits: &str) -> bool {
    value.to_str().is_ok_and(|text| text.to_ascii_lowercase().contains(digits))
}
