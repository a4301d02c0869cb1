//! Who may ask: whoever holds the installation's token. Pages also take it from a cookie, which only pages read, so
//! that no other site can make a browser change anything.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use yuba_core::token;

use crate::Api;
use crate::problem::Problem;

const COOKIE: &str = "yuba_token";

/// Lets requests with the token in `Authorization: Bearer` pass.
pub(crate) async fn require_token(State(api): State<Api>, request: Request, next: Next) -> Response {
    match bearer(request.headers()) {
        Some(token) if is_token(&api.token, token) => next.run(request).await,
        _ => Problem::unauthorized().into_response(),
    }
}

/// Lets requests for pages pass: with the header, the cookie, or once with `?token=`, which sets the cookie.
pub(crate) async fn require_page_token(State(api): State<Api>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let given = bearer(headers).or_else(|| cookie(headers));
    if given.is_some_and(|token| is_token(&api.token, token)) {
        return next.run(request).await;
    }
    match query_token(request.uri().query().unwrap_or_default()) {
        Some(token) if is_token(&api.token, token) => remember(request.uri().path(), token),
        _ => (StatusCode::UNAUTHORIZED, crate::page::sign_in()).into_response(),
    }
}

/// Goes to the same page without the token in its address, where history and logs would keep it.
fn remember(path: &str, token: &str) -> Response {
    let cookie = format!("{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict");
    let headers = [(header::LOCATION, path.to_owned()), (header::SET_COOKIE, cookie)];
    (StatusCode::SEE_OTHER, headers).into_response()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    token::bearer(headers.get(header::AUTHORIZATION)?.to_str().ok()?)
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let pairs = headers.get(header::COOKIE)?.to_str().ok()?.split(';');
    pairs
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(name, _)| *name == COOKIE)
        .map(|(_, value)| value)
}

fn query_token(query: &str) -> Option<&str> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(name, _)| *name == "token")
        .map(|(_, value)| value)
}

/// Compares digests and looks at every byte: the time taken says nothing of the token.
fn is_token(token: &SecretString, given: &str) -> bool {
    let (expected, given) = (Sha256::digest(token.expose_secret()), Sha256::digest(given));
    expected.iter().zip(given.iter()).fold(0, |differing, (left, right)| differing | (left ^ right)) == 0
}
