#![doc = include_str!("../README.md")]

mod auth;
mod explain;
mod extract;
mod lookup;
mod metrics;
mod openapi;
mod page;
mod problem;
mod recorded;
mod routes;
mod view;
mod watch;
pub mod wire;

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use secrecy::SecretString;
use yuba_core::measured::Tally;
use yuba_ports::Ports;

pub use explain::{Explain, Unexplained};
pub use openapi::description;
pub use recorded::RecordedWhy;

/// State files may be large; everything else is small.
const BODY_LIMIT: usize = 64 * 1024 * 1024;

/// What the API works with.
#[derive(Clone)]
pub struct Api {
    /// The world.
    pub ports: Ports,
    /// Whoever holds it may ask for everything.
    pub token: Arc<SecretString>,
    /// Who says why a stack was planned.
    pub explain: Arc<dyn Explain>,
    /// What ended since this process began, where it decides on stacks too: shown in `/metrics`.
    pub tally: Arc<Mutex<Tally>>,
}

impl Api {
    /// An API over ports, for whoever holds the token.
    pub fn new(ports: Ports, token: SecretString, explain: Arc<dyn Explain>) -> Self {
        Self { ports, token: Arc::new(token), explain, tally: Arc::default() }
    }
}

/// All routes: `/api/v1/…` and `/metrics` for holders of the token, pages below `/`, `/healthz` for everybody.
pub fn router(api: Api) -> Router {
    let (protected, _) = openapi::protected().split_for_parts();
    let protected = protected.layer(from_fn_with_state(api.clone(), auth::require_token));
    let pages = page::routes().layer(from_fn_with_state(api.clone(), auth::require_page_token));
    let open = Router::new()
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/api/v1/openapi.json", get(|| async { axum::Json(description()) }));
    Router::new()
        .merge(protected)
        .merge(pages)
        .merge(open)
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(from_fn_with_state(api.clone(), problem::number_unexpected))
        .with_state(api)
}
