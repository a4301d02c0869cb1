//! The audit trail, as it lies in the store: whoever reads it can check each hash.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use yuba_core::audit::{AUDIT, AUDIT_ANCHORS, AuditHead};
use yuba_core::id::{AuditChain, StackName};
use yuba_core::record::{Index, Installation, Key};
use yuba_core::stack::Stack;
use yuba_ports::{Cursor, Item, Order, Query};

use super::{MOST_ITEMS, PageParams, after};
use crate::Api;
use crate::extract::Params;
use crate::lookup;
use crate::problem::Problem;
use crate::wire::{List, ProblemBody};

/// Which entries.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct EntryParams {
    /// How many items at most; 1 to 100.
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
    /// Only those of this stack, `namespace/name`.
    stack: Option<String>,
    /// Whether the last of a chain come first.
    newest: bool,
}

/// Lists entries, in the order of chain and number.
#[utoipa::path(get, path = "/api/v1/audit/entries", tag = "audit", params(EntryParams),
    responses((status = 200, body = List<Value>), (status = 400, body = ProblemBody), (status = 404, body = ProblemBody)))]
pub(crate) async fn entries(
    State(api): State<Api>,
    Params(params): Params<EntryParams>,
) -> Result<Json<List<Value>>, Problem> {
    let prefix = match &params.stack {
        Some(name) => {
            let name: StackName =
                name.parse().map_err(|error| Problem::malformed(format!("stack: {error}")))?;
            let stack = lookup::stack(&*api.ports.store, &name).await?;
            format!("{}#", AuditChain::Stack(stack.id))
        }
        None => String::new(),
    };
    let order = if params.newest { Order::Descending } else { Order::Ascending };
    let (after, limit) = (after(params.cursor.as_deref())?, params.limit.unwrap_or(MOST_ITEMS));
    let (partition, limit) = (AUDIT.to_owned(), limit.clamp(1, MOST_ITEMS));
    stored(&api, Query::Partition { partition, prefix, order, after, limit }).await
}

/// Lists anchors, the first one first.
#[utoipa::path(get, path = "/api/v1/audit/anchors", tag = "audit", params(PageParams),
    responses((status = 200, body = List<Value>), (status = 400, body = ProblemBody)))]
pub(crate) async fn anchors(
    State(api): State<Api>,
    Params(params): Params<PageParams>,
) -> Result<Json<List<Value>>, Problem> {
    let (partition, prefix, order) = (AUDIT_ANCHORS.to_owned(), String::new(), Order::Ascending);
    let (after, limit) = (params.after()?, params.limit());
    stored(&api, Query::Partition { partition, prefix, order, after, limit }).await
}

/// Lists the last entry of each chain, as the stacks' own records name it.
#[utoipa::path(get, path = "/api/v1/audit/heads", tag = "audit", params(PageParams),
    responses((status = 200, body = List<Value>), (status = 400, body = ProblemBody)))]
pub(crate) async fn heads(
    State(api): State<Api>,
    Params(params): Params<PageParams>,
) -> Result<Json<List<Value>>, Problem> {
    let (store, after) = (&*api.ports.store, params.after()?);
    let mut heads: Vec<AuditHead> = Vec::new();
    if after.is_none() {
        let installation = lookup::read::<Installation>(store, &Key::installation()).await?;
        heads.extend(installation.and_then(|installation| installation.audit));
    }
    let query = lookup::index(Index::Stacks, String::new(), after, params.limit());
    let (stacks, next) = lookup::values::<Stack>(store, query).await?;
    heads.extend(stacks.iter().filter_map(|stack| stack.audit));
    let items = heads.iter().filter_map(|head| serde_json::to_value(head).ok()).collect();
    Ok(list(items, next))
}

async fn stored(api: &Api, query: Query) -> Result<Json<List<Value>>, Problem> {
    let page = api.ports.store.query(query).await?;
    Ok(list(page.items.into_iter().map(body).collect(), page.next))
}

/// What was hashed, and its hash.
fn body(item: Item) -> Value {
    let mut body = item.body;
    if let Value::Object(fields) = &mut body {
        fields.remove("schema");
    }
    body
}

fn list(items: Vec<Value>, next: Option<Cursor>) -> Json<List<Value>> {
    Json(List { items, next: next.map(|cursor| cursor.0) })
}
