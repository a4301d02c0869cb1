//! `POST /tasks/credentials`: an attempt that outlives its credentials gets new ones, while its claim stands.

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::HeaderMap;
use yuba_core::attempt::{Attempt, AttemptState};
use yuba_core::record::Key;
use yuba_core::task::{CredentialsAnswer, CredentialsRequest};
use yuba_core::token::TokenUse;
use yuba_ports::records::load;

use crate::access::grant;
use crate::answer::{Refusal, check_schema};
use crate::bearer::check_token;
use crate::state::TasksState;

pub(crate) async fn credentials(
    State(state): State<TasksState>,
    headers: HeaderMap,
    body: Result<Json<CredentialsRequest>, JsonRejection>,
) -> Result<Json<CredentialsAnswer>, Refusal> {
    let Json(request) = body?;
    check_schema(request.schema)?;
    check_token(&state.ports, &headers, TokenUse::Report, request.attempt)?;
    let attempt = load::<Attempt>(&*state.ports.store, &Key::attempt(request.attempt))
        .await?
        .ok_or(Refusal::Unknown(request.attempt))?;
    if attempt.state != AttemptState::Claimed {
        return Err(Refusal::State(attempt.id, attempt.state));
    }
    let access = grant(&state, &attempt.job).await?;
    Ok(Json(CredentialsAnswer {
        schema: 1,
        credentials: access.credentials,
        objects: access.objects,
        lease: access.lease,
    }))
}
