//! What people ask for. A request is stored, its message is sent, and the answer says where to look; where the records
//! already refuse, that is said at once; what would have changed something is stored as refused, and its message sent all the
//! same: the audit trail tells of it.

mod ask;

use std::time::{Duration, Instant};

use axum::extract::{Path, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use yuba_core::access::{Caller, scope_of};
use yuba_core::decide::{Moment, Records, refusal};
use yuba_core::id::{RequestId, RunId, StackName};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::Key;
use yuba_core::request::{Adoption, Ask, Outcome, Request, Signed};
use yuba_core::run::Run;
use yuba_core::stack::Stack;
use yuba_core::time::Span;
use yuba_ports::around::{bound, formers, holder, same_state};
use yuba_ports::records::Versioned;
use yuba_ports::{Committed, PortError, PutMode};

use crate::auth::reaches;
use crate::extract::{Body, Params, run_id, stack_name};
use crate::problem::Problem;
use crate::wire::{AskBody, Asked, PatchBody, ProblemBody, RequestState};
use crate::{Api, lookup, view};

pub(crate) use ask::Verb;

/// The longest that a look at a request waits.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// How often a request that is waited for is read.
const BETWEEN_READS: Duration = Duration::from_millis(100);

/// Asks for something to be done with a stack.
#[utoipa::path(post, path = "/api/v1/stacks/{namespace}/{name}/{verb}", tag = "requests", request_body = AskBody,
    params(("namespace" = String, Path), ("name" = String, Path), ("verb" = inline(Verb), Path)),
    responses((status = 202, body = Asked), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody),
        (status = 422, body = ProblemBody)))]
pub(crate) async fn ask(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path((namespace, name, verb)): Path<(String, String, String)>,
    Body(body): Body<AskBody>,
) -> Result<Response, Problem> {
    let verb: Verb = verb.parse()?;
    let stack = lookup::stack(&*api.ports.store, &stack_name((namespace, name))).await?;
    let state_file = body.state_file.clone();
    let by = by(&api, &caller, body.who.clone(), body.from.clone(), body.message.clone());
    let ask = match verb {
        Verb::Unlock if body.lock.is_none() => unlock_reported(&api, &stack).await?,
        Verb::Adopt if body.from_stack.is_some() => adopt_from(&api, &caller, &body).await?,
        _ => verb.ask(&body)?,
    };
    Box::pin(submit(&api, &caller, Wish { stack, by, ask, state_file })).await
}

/// The lock that the last run reported.
async fn unlock_reported(api: &Api, stack: &Stack) -> Result<Ask, Problem> {
    let last = lookup::run_of(&*api.ports.store, stack.id, stack.latest).await?;
    let lock = last.and_then(|run| run.failure).and_then(|failure| failure.lock);
    let lock = lock.ok_or_else(|| {
        Problem::refused(format!("the last run of {} reported no lock", stack.name))
            .with_help("name the lock's id where you know of one")
    })?;
    Ok(Ask::Unlock { lock: lock.id })
}

/// The stack whose state is to be taken over.
async fn adopt_from(api: &Api, caller: &Caller, body: &AskBody) -> Result<Ask, Problem> {
    Verb::Adopt.ask(body)?;
    let name = body.from_stack.as_deref().unwrap_or_default();
    let (namespace, name) = name.split_once('/').ok_or_else(|| {
        Problem::unprocessable(format!("from_stack: found `{name}`, allowed is `namespace/name`"))
    })?;
    let former = lookup::stack(&*api.ports.store, &StackName::new(namespace, name)).await?;
    reaches(api, caller, former.id).await??;
    Ok(Ask::Adopt(Adoption::From(former.id)))
}

/// Who patches.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct ByParams {
    /// Who asks.
    pub(crate) who: Option<String>,
    /// Through which door.
    pub(crate) from: Option<String>,
}

/// Patches a stack as kubectl would: `spec.approvePlan` with a plan id approves it, `spec.suspend` suspends or resumes.
#[utoipa::path(patch, path = "/api/v1/stacks/{namespace}/{name}", tag = "requests", request_body = PatchBody,
    params(("namespace" = String, Path), ("name" = String, Path), ByParams),
    responses((status = 202, body = Asked), (status = 409, body = ProblemBody), (status = 422, body = ProblemBody)))]
pub(crate) async fn patch(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<(String, String)>,
    Params(params): Params<ByParams>,
    Body(patch): Body<Value>,
) -> Result<Response, Problem> {
    let ask = ask::patched(&patch)?;
    let stack = lookup::stack(&*api.ports.store, &stack_name(name)).await?;
    let by = by(&api, &caller, params.who, params.from, None);
    Box::pin(submit(&api, &caller, Wish { stack, by, ask, state_file: None })).await
}

/// Asks to end a run.
#[utoipa::path(post, path = "/api/v1/runs/{run}/cancel", tag = "requests", request_body = AskBody,
    params(("run" = String, Path)),
    responses((status = 202, body = Asked), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(crate) async fn cancel(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    Body(body): Body<AskBody>,
) -> Result<Response, Problem> {
    Box::pin(ask_of_run((&api, &caller), &run, body, |run| Ask::Cancel { run: Some(run) })).await
}

/// Asks to push the state that a failed apply left behind.
#[utoipa::path(post, path = "/api/v1/runs/{run}/recover", tag = "requests", request_body = AskBody,
    params(("run" = String, Path)),
    responses((status = 202, body = Asked), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(crate) async fn recover(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(run): Path<String>,
    Body(body): Body<AskBody>,
) -> Result<Response, Problem> {
    Box::pin(ask_of_run((&api, &caller), &run, body, |run| Ask::Recover { run })).await
}

async fn ask_of_run(
    (api, caller): (&Api, &Caller),
    run: &str,
    body: AskBody,
    ask: impl FnOnce(RunId) -> Ask,
) -> Result<Response, Problem> {
    let run = lookup::run(&*api.ports.store, run_id(run)?).await?;
    let stack = lookup::stack_of(&*api.ports.store, run.stack).await?;
    let stack = stack.ok_or_else(|| Problem::not_found(format!("the stack of run {} is gone", run.id)))?;
    let by = by(api, caller, body.who, body.from, body.message);
    Box::pin(submit(api, caller, Wish { stack, by, ask: ask(run.id), state_file: None })).await
}

/// How long to wait.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct WaitParams {
    /// How long to wait while it is pending: `10s`; at most a minute.
    wait: Option<String>,
}

/// Shows what became of a request; waits while it is pending, if asked to.
#[utoipa::path(get, path = "/api/v1/requests/{request}", tag = "requests",
    params(("request" = String, Path), WaitParams),
    responses((status = 200, body = RequestState), (status = 404, body = ProblemBody)))]
pub(crate) async fn show(
    State(api): State<Api>,
    Path(request): Path<String>,
    Params(params): Params<WaitParams>,
) -> Result<Json<RequestState>, Problem> {
    let id: RequestId = request.parse().map_err(|error| Problem::malformed(format!("request: {error}")))?;
    let read = || async {
        let request = read(&api, id).await?;
        Ok((view::request(&request), request.outcome != Outcome::Pending))
    };
    params.until_settled(read).await.map(Json)
}

impl WaitParams {
    /// Reads again and again until what is read is settled, or the wait is over.
    pub(crate) async fn until_settled<Read>(&self, read: impl Fn() -> Read) -> Result<RequestState, Problem>
    where
        Read: Future<Output = Result<(RequestState, bool), Problem>>,
    {
        let end = Instant::now() + self.span()?;
        loop {
            let (state, is_settled) = read().await?;
            if is_settled || Instant::now() >= end {
                return Ok(state);
            }
            tokio::time::sleep(BETWEEN_READS).await;
        }
    }

    fn span(&self) -> Result<Duration, Problem> {
        let Some(text) = &self.wait else { return Ok(Duration::ZERO) };
        let span: Span = text.parse().map_err(|error| Problem::malformed(format!("wait: {error}")))?;
        Ok(span.to_std().min(LONGEST_WAIT))
    }
}

/// The request of an id.
pub(crate) async fn read(api: &Api, id: RequestId) -> Result<Request, Problem> {
    let request = lookup::read::<Request>(&*api.ports.store, &Key::request(id)).await?;
    request.ok_or_else(|| Problem::not_found(format!("there is no request {id}")))
}

/// Who asks, as the record keeps it.
pub(crate) fn by(
    api: &Api,
    caller: &Caller,
    who: Option<String>,
    from: Option<String>,
    message: Option<String>,
) -> Signed {
    Signed {
        who: caller.signs_as(who),
        at: api.ports.clock.now(),
        from: from.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| "api".to_owned()),
        message: message.unwrap_or_default(),
        identity: caller.identity.clone(),
    }
}

/// Something that is asked for, not stored yet.
struct Wish {
    stack: Stack,
    by: Signed,
    ask: Ask,
    state_file: Option<String>,
}

async fn submit(api: &Api, caller: &Caller, wish: Wish) -> Result<Response, Problem> {
    caller.may(scope_of(&wish.ask))?;
    let Wish { stack, by, ask, state_file } = wish;
    let id = RequestId(api.ports.ids.ulid());
    let mut request = Request::new(id, stack.id, by, ask);
    if let Some(message) = refusal(Box::pin(records(api, &stack, &request)).await?, moment(api)) {
        request.outcome = Outcome::Refused { message: message.clone() };
        if request.is_refused_unrecorded() {
            store(api, &request).await?;
            api.ports.queue.send(vec![Message::new(Wake::Stack(stack.id), Cause::Request(id))]).await?;
        }
        return Err(Problem::refused(message));
    }
    if let Some(file) = state_file {
        let key = yuba_core::job::state_import_object(stack.id);
        api.ports.blobs.put(&key, file.as_bytes(), PutMode::Replace).await?;
    }
    store(api, &request).await?;
    api.ports.queue.send(messages(api, &stack, &request).await?).await?;
    Ok(accepted(id, format!("/api/v1/requests/{id}")))
}

async fn store(api: &Api, request: &Request) -> Result<(), PortError> {
    match api.ports.store.commit(vec![Versioned::new(request.clone()).put()?]).await? {
        Committed::Done => Ok(()),
        Committed::Conflict(key) => Err(PortError::transient(format!("{key} is there already"))),
    }
}

/// Wakes the stack; for a reconciliation its source, which passes the request on once it has looked.
async fn messages(api: &Api, stack: &Stack, request: &Request) -> Result<Vec<Message>, PortError> {
    let cause = Cause::Request(request.id);
    let looks = request.ask == Ask::Reconcile;
    let definition = if looks { lookup::definition(&*api.ports.store, stack.id).await? } else { None };
    let wake = definition.map_or(Wake::Stack(stack.id), |definition| Wake::Source(definition.spec.source));
    Ok(vec![Message::new(wake, cause)])
}

/// What the decision about a request reads, as far as a refusal depends on it.
async fn records(api: &Api, stack: &Stack, request: &Request) -> Result<Records, PortError> {
    let store = &*api.ports.store;
    let run = lookup::run_of(store, stack.id, stack.run).await?;
    let attempt = match run.as_ref().and_then(Run::attempt_out) {
        Some(attempt) => lookup::read(store, &Key::attempt(attempt)).await?,
        None => None,
    };
    let named = match &request.ask {
        Ask::Recover { run } => Some(*run),
        Ask::Adopt(_) | Ask::Unlock { .. } => stack.latest,
        _ => None,
    };
    let definition = lookup::definition(store, stack.id).await?;
    let observation = lookup::read(store, &Key::observation(stack.id)).await?;
    let formers = formers(store, stack, definition.as_ref(), Some(request)).await?;
    let bound = bound(store).await?;
    Ok(Records {
        stack: stack.clone(),
        same_state: same_state(store, stack.id, definition.as_ref(), observation.as_ref()).await?,
        holder: holder(store, stack.id, (definition.as_ref(), observation.as_ref()), Some(request)).await?,
        formers: formers.into_iter().map(|loaded| loaded.former).collect(),
        definition,
        observation,
        run,
        drifted: lookup::run_of(store, stack.id, stack.drift.as_ref().map(|drift| drift.run)).await?,
        named: lookup::run_of(store, stack.id, named).await?,
        attempt,
        task: None,
        request: Some(request.clone()),
        values: std::collections::BTreeMap::new(),
        hosts: std::collections::BTreeMap::new(),
        dependencies: Vec::new(),
        trouble: None,
        paused: None,
        teams: bound.teams,
        freezes: bound.freezes,
    })
}

fn moment(api: &Api) -> Moment {
    Moment { now: api.ports.clock.now(), run: RunId(api.ports.ids.ulid()) }
}

/// Accepted, with where to look for what becomes of it.
pub(crate) fn accepted(id: RequestId, location: String) -> Response {
    let header = HeaderValue::from_str(&location).map(|value| [(header::LOCATION, value)]);
    let body = Json(Asked { request: id.to_string(), location });
    match header {
        Ok(header) => (StatusCode::ACCEPTED, header, body).into_response(),
        Err(_) => (StatusCode::ACCEPTED, body).into_response(),
    }
}
