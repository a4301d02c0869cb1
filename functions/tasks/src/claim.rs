//! `POST /tasks/claim`: the single-use token becomes the job, its values and credentials.
//!
//! Values and credentials are read before the claim is written: what fails for a passing reason leaves the attempt
//! as it was, and the task asks again.

use std::path::Path;

use axum::Json;
use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::HeaderMap;
use secrecy::ExposeSecret as _;
use yuba_core::attempt::{Attempt, AttemptReport, AttemptState};
use yuba_core::id::Phase;
use yuba_core::job::Job;
use yuba_core::message::AttemptNews;
use yuba_core::record::{Installation, Key};
use yuba_core::run::{Failure, FailureClass};
use yuba_core::task::{ClaimAnswer, ClaimRequest, HostCredentials, ResolvedValue};
use yuba_core::token::{TokenUse, digest_key, task_token};
use yuba_ports::records::{Versioned, load};
use yuba_ports::{Committed, Expected, PortError, Remedy, Store, Write};

use crate::access::{Access, grant};
use crate::answer::{Refusal, check_schema};
use crate::bearer::check_token;
use crate::state::TasksState;
use crate::values::{ValuesError, open_hosts, resolve};

pub(crate) async fn claim(
    State(state): State<TasksState>,
    headers: HeaderMap,
    body: Result<Json<ClaimRequest>, JsonRejection>,
) -> Result<Json<ClaimAnswer>, Refusal> {
    let Json(request) = body?;
    check_schema(request.schema)?;
    check_token(&state.ports, &headers, TokenUse::Claim, request.attempt)?;
    let attempt = issued(&state, &request).await?;
    match provide(&state, &attempt.job).await {
        Ok(provided) => {
            let job = attempt.job.clone();
            take(&state, attempt, None).await?;
            Ok(Json(answer(&state, job, provided)))
        }
        Err(Unprovided::Passing(error)) => Err(error.into()),
        Err(Unprovided::Failed(failure)) => {
            let why = failure.message.clone();
            take(&state, attempt, Some(AttemptReport::Failed(failure))).await?;
            Err(Refusal::CannotBegin(why))
        }
    }
}

/// The attempt, if it may be claimed now.
async fn issued(state: &TasksState, request: &ClaimRequest) -> Result<Versioned<Attempt>, Refusal> {
    let store = &*state.ports.store;
    let attempt = load::<Attempt>(store, &Key::attempt(request.attempt))
        .await?
        .ok_or(Refusal::Unknown(request.attempt))?;
    if attempt.state != AttemptState::Issued {
        return Err(Refusal::State(attempt.id, attempt.state));
    }
    going_on(store, attempt.id.phase).await?;
    Ok(attempt)
}

/// That applies are not paused, as a condition of the claim's commit: none is claimed once a pause was answered. A plan
/// asks for nothing.
async fn going_on(store: &dyn Store, phase: Phase) -> Result<Vec<Write>, Refusal> {
    if phase == Phase::Plan {
        return Ok(Vec::new());
    }
    let key = Key::installation();
    let known = load::<Installation>(store, &key).await?;
    if known.as_ref().is_some_and(|installation| installation.paused.is_some()) {
        return Err(Refusal::Paused);
    }
    let expected = known.map_or(Expected::Absent, |installation| installation.expected());
    Ok(vec![Write::Check { key, expected }])
}

/// Writes the claim, or at once the report of an attempt that cannot begin, and wakes the stack.
async fn take(
    state: &TasksState,
    mut attempt: Versioned<Attempt>,
    report: Option<AttemptReport>,
) -> Result<(), Refusal> {
    let now = state.ports.clock.now();
    let (reached, news) = match report {
        Some(_) => (AttemptState::Reported, AttemptNews::Reported),
        None => (AttemptState::Claimed, AttemptNews::Claimed),
    };
    attempt.state = reached;
    attempt.claimed_at = Some(now);
    attempt.heard_at = Some(now);
    attempt.report = report;
    commit(&*state.ports.store, &attempt).await?;
    // The claim stands whether or not its message goes out: the scheduler's sweep finds the record.
    if let Err(error) = state.wake(attempt.stack, attempt.id, news).await {
        tracing::warn!(attempt = %attempt.id, what = %error.what, "a claim's message could not be sent");
    }
    Ok(())
}

/// Commits the claim while applies are not paused; where the installation changed meanwhile, that is looked at again.
async fn commit(store: &dyn Store, attempt: &Versioned<Attempt>) -> Result<(), Refusal> {
    loop {
        let mut writes = going_on(store, attempt.id.phase).await?;
        writes.push(attempt.put()?);
        match store.commit(writes).await? {
            Committed::Done => return Ok(()),
            Committed::Conflict(key) if key == Key::installation() => {}
            Committed::Conflict(_) => return Err(Refusal::State(attempt.id, AttemptState::Claimed)),
        }
    }
}

/// What a task needs that must not be stored.
struct Provided {
    values: Vec<ResolvedValue>,
    hosts: Vec<HostCredentials>,
    access: Access,
}

/// Why it cannot be had.
enum Unprovided {
    Failed(Failure),
    Passing(PortError),
}

async fn provide(state: &TasksState, job: &Job) -> Result<Provided, Unprovided> {
    let ports = &state.ports;
    let unread = |error| match error {
        ValuesError::Missing(why) => Unprovided::Failed(failure(FailureClass::Configuration, why)),
        ValuesError::Passing(error) => Unprovided::Passing(error),
    };
    let values = resolve(&*ports.secrets, &job.name, &job.spec.vars_from).await.map_err(unread)?;
    let hosts = open_hosts(&*ports.secrets, &job.name, &job.spec.hosts).await.map_err(unread)?;
    let access = grant(state, job).await.map_err(denied)?;
    Ok(Provided { values, hosts, access })
}

/// A role that cannot be assumed: for good, or for a passing reason.
fn denied(error: PortError) -> Unprovided {
    if error.remedy == Remedy::Permanent {
        Unprovided::Failed(failure(FailureClass::AccessDenied, error.what))
    } else {
        Unprovided::Passing(error)
    }
}

fn failure(class: FailureClass, message: String) -> Failure {
    Failure { class, message, detail: String::new(), lock: None, errored_state: false }
}

fn answer(state: &TasksState, job: Job, provided: Provided) -> ClaimAnswer {
    let key = state.ports.key.expose_secret().as_bytes();
    let settings = &state.settings;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let Access { credentials, objects, lease } = provided.access;
    ClaimAnswer {
        schema: 1,
        claim_token: task_token(key, TokenUse::Report, job.attempt),
        values: provided.values,
        credentials,
        hosts: provided.hosts,
        objects,
        lease,
        digest_key: digest_key(key),
        local_state: settings.state_file(job.state_id()).as_deref().map(text),
        provider_cache: settings.provider_cache.as_deref().map(text),
        job,
    }
}
