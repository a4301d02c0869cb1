//! `POST /tasks/heartbeat`: the task lives; is it to stop?

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::HeaderMap;
use yuba_core::attempt::{Attempt, AttemptState};
use yuba_core::record::Key;
use yuba_core::task::{Heartbeat, HeartbeatAnswer};
use yuba_core::token::TokenUse;
use yuba_ports::records::update;

use crate::answer::{Refusal, check_schema};
use crate::bearer::check_token;
use crate::state::TasksState;

pub(crate) async fn heartbeat(
    State(state): State<TasksState>,
    headers: HeaderMap,
    body: Result<Json<Heartbeat>, JsonRejection>,
) -> Result<Json<HeartbeatAnswer>, Refusal> {
    let Json(beat) = body?;
    check_schema(beat.schema)?;
    check_token(&state.ports, &headers, TokenUse::Report, beat.attempt)?;
    let now = state.ports.clock.now();
    let note = |attempt: &mut Attempt| {
        let claimed = attempt.state == AttemptState::Claimed;
        if claimed {
            attempt.heard_at = Some(now);
            attempt.progress = beat.progress.clone().or(attempt.progress.take());
        }
        claimed
    };
    let attempt = update(&*state.ports.store, &Key::attempt(beat.attempt), note)
        .await?
        .ok_or(Refusal::Unknown(beat.attempt))?;
    if attempt.state != AttemptState::Claimed {
        return Err(Refusal::State(attempt.id, attempt.state));
    }
    Ok(Json(HeartbeatAnswer { schema: 1, stop: attempt.stop.map(|order| order.why) }))
}
