//! Plans of runs, redacted.

use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};
use yuba_core::job::{attempt_prefix, object};
use yuba_core::plan::summary::PlanSummary;
use yuba_core::run::Run;
use yuba_ports::PortError;

use crate::Api;
use crate::extract::{Params, run_id};
use crate::lookup;
use crate::problem::Problem;
use crate::wire::ProblemBody;

/// In which form.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PlanFormat {
    /// As people read it.
    #[default]
    Text,
    /// Yuba's summary, from which tools work.
    Summary,
    /// The engine's own JSON plan, redacted.
    Json,
}

/// Which part of a plan, in which form.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct PlanParams {
    /// `text`, `summary` or `json`.
    #[param(inline)]
    format: PlanFormat,
    /// Only this resource, or those below this module, with the counts of that part; for `summary` alone.
    address: Option<String>,
}

/// Shows the plan of a run.
#[utoipa::path(get, path = "/api/v1/runs/{run}/plan", tag = "runs", params(("run" = String, Path), PlanParams),
    responses((status = 200, description = "The plan", content(
        (String = "text/plain"), (Value = "application/json"))), (status = 404, body = ProblemBody)))]
pub(crate) async fn show(
    State(api): State<Api>,
    Path(run): Path<String>,
    Params(params): Params<PlanParams>,
) -> Result<Response, Problem> {
    let run = lookup::run(&*api.ports.store, run_id(&run)?).await?;
    let (name, kind) = match params.format {
        PlanFormat::Text => (object::PLAN_TEXT, "text/plain; charset=utf-8"),
        PlanFormat::Summary => (object::SUMMARY, "application/json"),
        PlanFormat::Json => (object::PLAN_JSON, "application/json"),
    };
    let bytes = stored(&api, &run, name).await?.ok_or_else(|| no_plan(&run))?;
    let bytes = match &params.address {
        Some(address) if params.format == PlanFormat::Summary => narrowed(&bytes, address)?,
        _ => bytes,
    };
    Ok(([(header::CONTENT_TYPE, kind)], bytes).into_response())
}

fn no_plan(run: &Run) -> Problem {
    Problem::not_found(format!("run {} of {} has no stored plan: it is {}", run.number, run.name, run.state))
        .with_help(format!("`yuba show run {}` says why", run.id))
}

/// An object that the attempt stored which made the plan of a run.
pub(crate) async fn stored(api: &Api, run: &Run, name: &str) -> Result<Option<Vec<u8>>, PortError> {
    match &run.plan {
        Some(plan) => {
            let key = format!("{}{name}", attempt_prefix(run.stack, plan.attempt));
            api.ports.blobs.get(&key).await
        }
        None => Ok(None),
    }
}

/// A summary with only what lies at or under an address, and the counts of that part.
fn narrowed(summary: &[u8], address: &str) -> Result<Vec<u8>, Problem> {
    let unreadable = |error| PortError::permanent("a plan summary cannot be read").because(error);
    let summary: PlanSummary = serde_json::from_slice(summary).map_err(unreadable)?;
    let part = summary.narrowed(address).map_err(|error| Problem::not_found(error.to_string()))?;
    Ok(serde_json::to_vec(&part).map_err(unreadable)?)
}
