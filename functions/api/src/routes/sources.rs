//! Sources: the list.

use axum::Json;
use axum::extract::State;
use yuba_core::record::Index;
use yuba_core::source::Source;

use super::PageParams;
use crate::Api;
use crate::extract::Params;
use crate::lookup;
use crate::problem::Problem;
use crate::view;
use crate::wire::{List, ProblemBody, SourceItem};

/// Lists sources by name.
#[utoipa::path(get, path = "/api/v1/sources", tag = "sources", params(PageParams),
    responses((status = 200, body = List<SourceItem>), (status = 400, body = ProblemBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    Params(params): Params<PageParams>,
) -> Result<Json<List<SourceItem>>, Problem> {
    let query = lookup::index(Index::Sources, String::new(), params.after()?, params.limit());
    let (sources, next) = lookup::values::<Source>(&*api.ports.store, query).await?;
    Ok(Json(List { items: sources.iter().map(view::source).collect(), next: next.map(|cursor| cursor.0) }))
}
