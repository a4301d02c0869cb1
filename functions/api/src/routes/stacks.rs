//! Stacks: the list, all that is known of one, its outputs and inventory.

use std::collections::BTreeMap;

use axum::extract::{Path, State};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use yuba_core::access::{Caller, Scope};
use yuba_core::id::{AttemptId, Phase, RunId};
use yuba_core::job::{attempt_prefix, object};
use yuba_core::plan::summary::PlanSummary;
use yuba_core::record::{Index, Key};
use yuba_core::run::{Run, RunKind, RunState};
use yuba_core::selector::Selector;
use yuba_core::spec::StackSpec;
use yuba_core::stack::{Ready, Stack};
use yuba_ports::{PortError, Store};

use crate::Api;
use crate::extract::{Params, stack_name};
use crate::lookup;
use crate::problem::Problem;
use crate::routes::plan::stored;
use crate::routes::{MOST_ITEMS, after};
use crate::view::stack::{self as view, Known};
use crate::wire::{Inventory, InventoryEntry, List, Output, Outputs, ProblemBody, StackDetail, StackItem};

/// How many stacks one request looks at; a filter that matches few gives a short page and a cursor.
const MOST_LOOKED_AT: usize = 1000;

/// How many of a stack's runs are looked through for what its state held.
const MOST_RUNS: usize = 200;

/// How many runs `describe` shows.
const RUNS_SHOWN: usize = 10;

/// Which stacks.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct StackFilter {
    /// How many items at most; 1 to 100.
    limit: Option<usize>,
    /// The `next` of the page before.
    cursor: Option<String>,
    /// Only those with these labels: `team=net,tier=prod`; `key` alone, `key!=value`.
    labels: Option<String>,
    /// Only those of this namespace.
    namespace: Option<String>,
    /// Only those of this name.
    name: Option<String>,
    /// Only those that are not ready and whose last run failed.
    failed: Option<bool>,
    /// Only those with drift.
    drifted: Option<bool>,
}

/// Lists stacks by name.
#[utoipa::path(get, path = "/api/v1/stacks", tag = "stacks", params(StackFilter),
    responses((status = 200, body = List<StackItem>), (status = 400, body = ProblemBody)))]
pub(crate) async fn list(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Params(filter): Params<StackFilter>,
) -> Result<Json<List<StackItem>>, Problem> {
    let labels = filter.labels.as_deref().unwrap_or_default();
    let selector: Selector = labels.parse().map_err(|_| no_selector(labels))?;
    let limit = filter.limit.unwrap_or(MOST_ITEMS).clamp(1, MOST_ITEMS);
    let prefix = filter.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
    let mut after = after(filter.cursor.as_deref())?;
    let (mut items, mut looked_at) = (Vec::new(), 0);
    loop {
        let query = lookup::index(Index::Stacks, prefix.clone(), after, limit - items.len());
        let (stacks, next) = lookup::values::<Stack>(&*api.ports.store, query).await?;
        looked_at += stacks.len().max(1);
        for stack in stacks.iter().filter(|stack| filter.takes(stack)) {
            let item = item(&*api.ports.store, stack).await?;
            let shown = selector.takes(&item.labels) && caller.reaches(&item.labels).is_ok();
            items.extend(shown.then_some(item));
        }
        after = next;
        if after.is_none() || items.len() >= limit || looked_at >= MOST_LOOKED_AT {
            return Ok(Json(List { items, next: after.map(|cursor| cursor.0) }));
        }
    }
}

fn no_selector(text: &str) -> Problem {
    Problem::malformed(format!("labels: `{text}` is not a label selector"))
        .with_help("write `key=value`, `key!=value` or `key`, several with commas between")
}

impl StackFilter {
    fn takes(&self, stack: &Stack) -> bool {
        let failed = stack.shown.ready == Ready::False && stack.shown.state == "failed";
        self.name.as_ref().is_none_or(|name| *name == stack.name.name)
            && self.failed.is_none_or(|wanted| wanted == failed)
            && self.drifted.is_none_or(|wanted| wanted == stack.drift.is_some())
    }
}

async fn item(store: &dyn Store, stack: &Stack) -> Result<StackItem, PortError> {
    let definition = lookup::definition(store, stack.id).await?;
    let run = lookup::run_of(store, stack.id, view::listed_run(stack)).await?;
    Ok(view::item(stack, definition.as_ref(), run.as_ref()))
}

/// Shows all that is known of a stack.
#[utoipa::path(get, path = "/api/v1/stacks/{namespace}/{name}", tag = "stacks",
    params(("namespace" = String, Path), ("name" = String, Path)),
    responses((status = 200, body = StackDetail), (status = 404, body = ProblemBody)))]
pub(crate) async fn detail(
    State(api): State<Api>,
    Path(name): Path<(String, String)>,
) -> Result<Json<StackDetail>, Problem> {
    let store = &*api.ports.store;
    let stack = lookup::stack(store, &stack_name(name)).await?;
    let (runs, _) = lookup::runs_of(store, stack.id, None, RUNS_SHOWN).await?;
    let definition = lookup::definition(store, stack.id).await?;
    let source = match &definition {
        Some(definition) => lookup::read(store, &Key::source(&definition.spec.source)).await?,
        None => None,
    };
    let known = Known {
        definition,
        source,
        observation: lookup::read(store, &Key::observation(stack.id)).await?,
        drifted: drifted(&api, &stack).await?,
        runs,
        stack,
    };
    Ok(Json(view::detail(&known)))
}

/// The run that found the drift that stands, with its plan's summary.
async fn drifted(api: &Api, stack: &Stack) -> Result<Option<(Run, PlanSummary)>, Problem> {
    let found = stack.drift.as_ref().map(|drift| drift.run);
    let Some(run) = lookup::run_of(&*api.ports.store, stack.id, found).await? else { return Ok(None) };
    let Some(bytes) = stored(api, &run, object::SUMMARY).await? else { return Ok(None) };
    let summary = serde_json::from_slice(&bytes).map_err(|error| {
        PortError::permanent(format!("the plan summary of run {} cannot be read", run.id)).because(error)
    })?;
    Ok(Some((run, summary)))
}

/// Which outputs.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct OutputParams {
    /// Also show sensitive values; needs the scope `admin` where there are any.
    reveal: bool,
}

/// One entry of `output -json`.
#[derive(Deserialize)]
struct StoredOutput {
    #[serde(default)]
    sensitive: bool,
    #[serde(default)]
    value: Value,
}

/// Shows the outputs that the last apply stored, or the last plan that found nothing to do.
#[utoipa::path(get, path = "/api/v1/stacks/{namespace}/{name}/outputs", tag = "stacks",
    params(("namespace" = String, Path), ("name" = String, Path), OutputParams),
    responses((status = 200, body = Outputs), (status = 404, body = ProblemBody)))]
pub(crate) async fn outputs(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<(String, String)>,
    Params(params): Params<OutputParams>,
) -> Result<Json<Outputs>, Problem> {
    let stack = lookup::stack(&*api.ports.store, &stack_name(name)).await?;
    let stored: BTreeMap<String, StoredOutput> = known(&api, &stack, object::OUTPUTS).await?;
    if params.reveal && stored.values().any(|output| output.sensitive) {
        caller.may(Scope::Admin)?;
        tracing::info!(stack = %stack.name, "sensitive outputs were revealed");
    }
    let items = stored
        .into_iter()
        .map(|(name, StoredOutput { sensitive, value })| Output {
            name,
            sensitive,
            value: (params.reveal || !sensitive).then_some(value),
        })
        .collect();
    Ok(Json(Outputs { items }))
}

/// Shows what the state held after the last apply, or at the last plan that found nothing to do.
#[utoipa::path(get, path = "/api/v1/stacks/{namespace}/{name}/inventory", tag = "stacks",
    params(("namespace" = String, Path), ("name" = String, Path)),
    responses((status = 200, body = Inventory), (status = 404, body = ProblemBody)))]
pub(crate) async fn inventory(
    State(api): State<Api>,
    Path(name): Path<(String, String)>,
) -> Result<Json<Inventory>, Problem> {
    let stack = lookup::stack(&*api.ports.store, &stack_name(name)).await?;
    let items: Vec<InventoryEntry> = known(&api, &stack, object::INVENTORY).await?;
    Ok(Json(Inventory { items }))
}

/// What the state of a stack held when it was last known: an object that the last apply stored, or the last plan that
/// found nothing to do.
async fn known<T: serde::de::DeserializeOwned>(api: &Api, stack: &Stack, name: &str) -> Result<T, Problem> {
    let (mut after, mut looked_at) = (None, 0);
    loop {
        let (runs, next) = lookup::runs_of(&*api.ports.store, stack.id, after, 20).await?;
        looked_at += runs.len().max(1);
        for (run, attempt) in runs.iter().filter_map(|run| Some((run, looked_into_state(run)?))) {
            let key = format!("{}{name}", attempt_prefix(stack.id, attempt));
            if let Some(bytes) = api.ports.blobs.get(&key).await? {
                return Ok(read(&key, &bytes)?);
            }
            if run.state == RunState::Applied {
                return Err(not_stored(stack, name, Some((run.id, &run.spec))));
            }
        }
        if next.is_none() || looked_at >= MOST_RUNS {
            let applied = stack.applied.as_ref().map(|applied| (applied.run, &applied.spec));
            return Err(not_stored(stack, name, applied));
        }
        after = next;
    }
}

fn read<T: serde::de::DeserializeOwned>(key: &str, bytes: &[u8]) -> Result<T, PortError> {
    serde_json::from_slice(bytes)
        .map_err(|error| PortError::permanent(format!("{key} cannot be read")).because(error))
}

/// The attempt of a run that read the state, where the run left it as the manifests want it.
fn looked_into_state(run: &Run) -> Option<AttemptId> {
    let phase = match (run.state, run.kind) {
        (RunState::Applied, _) => Phase::Apply,
        (RunState::Unchanged, RunKind::Tracked) => Phase::Plan,
        _ => return None,
    };
    run.attempts.iter().rev().map(|note| note.id).find(|attempt| attempt.phase == phase)
}

/// Why nothing is known of a state, and what to do; `last` is the run that left it as it is wanted, and its settings.
fn not_stored(stack: &Stack, file: &str, last: Option<(RunId, &StackSpec)>) -> Problem {
    let what = file.trim_end_matches(".json");
    let name = &stack.name;
    let Some((run, spec)) = last else {
        let status = Some(stack.shown.status.as_str()).filter(|status| !status.is_empty());
        let status = status.unwrap_or("it had no run yet");
        return Problem::not_found(format!("nothing of {name} was applied yet: {status}"));
    };
    let missing = Problem::not_found(format!("run {run} of {name} stored no {what}"));
    if file == object::INVENTORY && !spec.enable_inventory {
        return missing.with_help("it is stored where the manifest sets `enableInventory: true`");
    }
    missing.with_help(format!(
        "`yuba replan {name}` looks into the state again; `yuba logs {run}` may say why it could not be read"
    ))
}
