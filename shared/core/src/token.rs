//! Tokens of tasks: derived from the installation's key, so that none is stored and starting a task twice hands over
//! the same one. What makes a token single-use is the attempt's record: it is claimed once.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::id::AttemptId;

/// What a token lets its bearer do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenUse {
    /// Claim the attempt: handed to the task when it starts.
    Claim,
    /// Send heartbeats and the report: handed out with the claim.
    Report,
}

/// The token of an attempt for one use: 64 hexadecimal digits.
pub fn task_token(key: &[u8], token_use: TokenUse, attempt: AttemptId) -> String {
    hex::encode(mac(key, token_use, attempt).finalize().into_bytes())
}

/// Whether a token is the attempt's for this use; takes the same time whatever is wrong with it.
pub fn is_task_token(key: &[u8], token_use: TokenUse, attempt: AttemptId, token: &str) -> bool {
    hex::decode(token).is_ok_and(|bytes| mac(key, token_use, attempt).verify_slice(&bytes).is_ok())
}

/// The key under which secret values enter inputs digests: the same for the whole installation, useless elsewhere.
pub fn digest_key(key: &[u8]) -> String {
    let mut mac = keyed(key);
    mac.update(b"yuba inputs digest");
    hex::encode(mac.finalize().into_bytes())
}

/// The token in an `Authorization` header: `Bearer`, in whatever case (RFC 9110, section 11.1), and one token.
pub fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.trim().split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

fn mac(key: &[u8], token_use: TokenUse, attempt: AttemptId) -> Hmac<Sha256> {
    let mut mac = keyed(key);
    mac.update(match token_use {
        TokenUse::Claim => b"yuba claim ",
        TokenUse::Report => b"yuba report",
    });
    mac.update(attempt.to_string().as_bytes());
    mac
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of any length (RFC 2104)")]
    Hmac::new_from_slice(key).expect("HMAC takes keys of any length")
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;
    use crate::id::{Phase, RunId};

    #[test]
    fn the_scheme_is_read_in_any_case() {
        for header in ["Bearer x", "bearer x", "BEARER  x "] {
            assert_eq!(bearer(header), Some("x"), "{header}");
        }
        for header in ["x", "Basic x", "Bearer", "Bearer ", "Bearerx"] {
            assert_eq!(bearer(header), None, "{header}");
        }
    }

    #[test]
    fn a_token_fits_its_attempt_and_use_alone() {
        let attempt = |number| AttemptId { run: RunId(Ulid::from_parts(1, 2)), phase: Phase::Plan, number };
        let token = task_token(b"key", TokenUse::Claim, attempt(1));
        assert!(is_task_token(b"key", TokenUse::Claim, attempt(1), &token));
        assert!(!is_task_token(b"key", TokenUse::Claim, attempt(2), &token));
        assert!(!is_task_token(b"key", TokenUse::Report, attempt(1), &token));
        assert!(!is_task_token(b"other", TokenUse::Claim, attempt(1), &token));
        assert!(!is_task_token(b"key", TokenUse::Claim, attempt(1), "not hexadecimal"));
    }
}
