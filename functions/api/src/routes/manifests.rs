//! Places of manifests: the list.

use axum::Json;
use axum::extract::State;
use yuba_core::record::Index;
use yuba_core::source::ManifestSetRecord;

use super::PageParams;
use crate::Api;
use crate::extract::Params;
use crate::lookup;
use crate::problem::Problem;
use crate::view;
use crate::wire::{List, ManifestSetItem, ProblemBody};

/// Lists places of manifests by name, with what is wrong in each.
#[utoipa::path(get, path = "/api/v1/manifests", tag = "sources", params(PageParams),
    responses((status = 200, body = List<ManifestSetItem>), (status = 400, body = ProblemBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    Params(params): Params<PageParams>,
) -> Result<Json<List<ManifestSetItem>>, Problem> {
    let query = lookup::index(Index::Manifests, String::new(), params.after()?, params.limit());
    let (sets, next) = lookup::values::<ManifestSetRecord>(&*api.ports.store, query).await?;
    let items = sets.iter().map(view::manifests::manifest_set).collect();
    Ok(Json(List { items, next: next.map(|cursor| cursor.0) }))
}
