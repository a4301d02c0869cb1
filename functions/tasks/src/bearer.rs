//! The token in a request's head.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use secrecy::ExposeSecret as _;
use yuba_core::id::AttemptId;
use yuba_core::token::{TokenUse, bearer, is_task_token};
use yuba_ports::Ports;

use crate::answer::Refusal;

/// Refuses a request whose `Authorization: Bearer` token is not the attempt's for this use.
pub(crate) fn check_token(
    ports: &Ports,
    headers: &HeaderMap,
    token_use: TokenUse,
    attempt: AttemptId,
) -> Result<(), Refusal> {
    let token = headers
        .get(AUTHORIZATION)
        .and_then(|header| header.to_str().ok())
        .and_then(bearer)
        .ok_or(Refusal::Token)?;
    let key = ports.key.expose_secret().as_bytes();
    if is_task_token(key, token_use, attempt, token) { Ok(()) } else { Err(Refusal::Token) }
}
