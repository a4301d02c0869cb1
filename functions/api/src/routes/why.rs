//! Why a stack was planned, or was not.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;
use yuba_core::why::Why;

use crate::Api;
use crate::explain::Unexplained;
use crate::extract::{Params, stack_name};
use crate::problem::Problem;
use crate::wire::{ProblemBody, WhyView};

/// Which revision.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct WhyParams {
    /// A branch, a commit or its beginning, or a whole revision; left out, what the newest run was made for.
    revision: Option<String>,
}

/// Says why a stack was planned, or what a revision changed for it, whether or not it was planned.
#[utoipa::path(get, path = "/api/v1/stacks/{namespace}/{name}/why", tag = "stacks",
    params(("namespace" = String, Path), ("name" = String, Path), WhyParams),
    responses((status = 200, body = WhyView), (status = 404, body = ProblemBody),
        (status = 501, body = ProblemBody)))]
pub(crate) async fn show(
    State(api): State<Api>,
    Path(name): Path<(String, String)>,
    Params(params): Params<WhyParams>,
) -> Result<Json<WhyView>, Problem> {
    let why = api.explain.why(&stack_name(name), params.revision.as_deref()).await;
    match why {
        Ok(why) => Ok(Json(view(&why))),
        Err(Unexplained::Unknown(what)) => Err(Problem::not_found(what)),
        Err(Unexplained::NotHere(what)) => Err(Problem::told(StatusCode::NOT_IMPLEMENTED, what)),
        Err(Unexplained::Port(error)) => Err(error.into()),
    }
}

fn view(why: &Why) -> WhyView {
    let (run, because) = match why {
        Why::Run { run, because, .. } => (Some(*run), because.as_slice()),
        Why::Revision { run, changed, .. } => (*run, changed.as_slice()),
        Why::NoRun { .. } => (None, [].as_slice()),
    };
    WhyView {
        text: why.to_string(),
        run: run.map(|run| run.to_string()),
        because: because.iter().map(ToString::to_string).collect(),
        notices: why.notices().to_vec(),
    }
}
