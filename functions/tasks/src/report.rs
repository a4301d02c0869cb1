//! `POST /tasks/report`: what came of the attempt. Accepted once; the same again is accepted as done.

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::HeaderMap;
use serde_json::{Value, json};
use yuba_core::attempt::{Attempt, AttemptState};
use yuba_core::message::AttemptNews;
use yuba_core::record::Key;
use yuba_core::task::ReportRequest;
use yuba_core::token::TokenUse;
use yuba_ports::records::load;
use yuba_ports::{Committed, chain};

use crate::answer::{Refusal, check_schema};
use crate::bearer::check_token;
use crate::state::TasksState;

pub(crate) async fn report(
    State(state): State<TasksState>,
    headers: HeaderMap,
    body: Result<Json<ReportRequest>, JsonRejection>,
) -> Result<Json<Value>, Refusal> {
    let Json(request) = body?;
    check_schema(request.schema)?;
    check_token(&state.ports, &headers, TokenUse::Report, request.attempt)?;
    let attempt = store(&state, &request).await?;
    // Also after a report that was stored before: its message may have been lost.
    state.wake(attempt.stack, attempt.id, AttemptNews::Reported).await?;
    state.ports.launcher.release(attempt.id).await.unwrap_or_else(|error| {
        let (attempt, error) = (attempt.id, chain(&error));
        tracing::warn!(%attempt, error, "the room of a task that reported is not free yet; a sweep frees it");
    });
    Ok(Json(json!({ "schema": 1 })))
}

async fn store(state: &TasksState, request: &ReportRequest) -> Result<Attempt, Refusal> {
    let key = Key::attempt(request.attempt);
    loop {
        let mut attempt =
            load::<Attempt>(&*state.ports.store, &key).await?.ok_or(Refusal::Unknown(request.attempt))?;
        match attempt.state {
            AttemptState::Claimed => {}
            AttemptState::Reported if attempt.report.as_ref() == Some(&request.report) => {
                return Ok(attempt.into_value());
            }
            refused => return Err(Refusal::State(attempt.id, refused)),
        }
        attempt.state = AttemptState::Reported;
        attempt.heard_at = Some(state.ports.clock.now());
        attempt.report = Some(request.report.clone());
        if state.ports.store.commit(vec![attempt.put()?]).await? == Committed::Done {
            return Ok(attempt.into_value());
        }
    }
}
