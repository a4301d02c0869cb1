//! Runs: the list, and all that is known of one.

use axum::extract::{Path, State};
use axum::{Extension, Json};
use serde::Deserialize;
use utoipa::IntoParams;
use yuba_core::access::Caller;
use yuba_core::attempt::Attempt;
use yuba_core::id::StackName;
use yuba_core::record::{Index, Key};
use yuba_core::run::Run;

use crate::Api;
use crate::auth::{reaches, visible};
use crate::extract::{Params, run_id};
use crate::lookup;
use crate::problem::Problem;
use crate::routes::{MOST_ITEMS, after};
use crate::view::run as view;
use crate::wire::{List, ProblemBody, RunDetail, RunItem};

/// Which runs.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct RunFilter {
    /// How many items at most; 1 to 100.
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
    /// Only those of this stack, `namespace/name`.
    stack: Option<String>,
}

/// Lists runs, newest first.
#[utoipa::path(get, path = "/api/v1/runs", tag = "runs", params(RunFilter),
    responses((status = 200, body = List<RunItem>), (status = 400, body = ProblemBody), (status = 404, body = ProblemBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Params(filter): Params<RunFilter>,
) -> Result<Json<List<RunItem>>, Problem> {
    let store = &*api.ports.store;
    let limit = filter.limit.unwrap_or(MOST_ITEMS).clamp(1, MOST_ITEMS);
    let after = after(filter.cursor.as_deref())?;
    let (runs, next) = match filter.stack {
        Some(name) => {
            let name: StackName =
                name.parse().map_err(|error| Problem::malformed(format!("stack: {error}")))?;
            let stack = lookup::stack(store, &name).await?;
            reaches(&api, &caller, stack.id).await??;
            lookup::runs_of(store, stack.id, after, limit).await?
        }
        None => lookup::values::<Run>(store, lookup::newest(Index::Runs, after, limit)).await?,
    };
    let runs = visible(&api, &caller, runs, |run| run.stack).await?;
    Ok(Json(List { items: runs.iter().map(view::item).collect(), next: next.map(|cursor| cursor.0) }))
}

/// Shows all that is known of a run.
#[utoipa::path(get, path = "/api/v1/runs/{run}", tag = "runs", params(("run" = String, Path)),
    responses((status = 200, body = RunDetail), (status = 404, body = ProblemBody)))]
pub(crate) async fn detail(
    State(api): State<Api>,
    Path(run): Path<String>,
) -> Result<Json<RunDetail>, Problem> {
    let store = &*api.ports.store;
    let run = lookup::run(store, run_id(&run)?).await?;
    let out = match run.attempt_out() {
        Some(attempt) => lookup::read::<Attempt>(store, &Key::attempt(attempt)).await?,
        None => None,
    };
    let stack = lookup::stack_of_run(store, &run).await?;
    Ok(Json(view::detail(&run, &stack, out.as_ref())))
}
