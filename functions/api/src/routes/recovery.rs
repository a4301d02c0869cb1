//! What `recover` would do: shown before somebody asks for it.

use axum::Json;
use axum::extract::{Path, State};
use yuba_core::job::{attempt_prefix, object};
use yuba_core::record::Key;
use yuba_core::run::Run;
use yuba_core::state_file::{Held, StateFile, read_state_file};

use crate::extract::run_id;
use crate::problem::Problem;
use crate::view::stack::state_target;
use crate::wire::{ProblemBody, RecoveryView, StateView};
use crate::{Api, lookup};

/// Shows the state that a failed apply left behind, and where `recover` would push it.
#[utoipa::path(get, path = "/api/v1/runs/{run}/recovery", tag = "runs", params(("run" = String, Path)),
    responses((status = 200, body = RecoveryView), (status = 404, body = ProblemBody), (status = 409, body = ProblemBody)))]
pub(crate) async fn show(
    State(api): State<Api>,
    Path(run): Path<String>,
) -> Result<Json<RecoveryView>, Problem> {
    let store = &*api.ports.store;
    let run = lookup::run(store, run_id(&run)?).await?;
    let left_behind = run.failure.as_ref().is_some_and(|failure| failure.errored_state);
    let Some(attempt) = run.attempts.last().filter(|_| left_behind) else {
        return Err(Problem::refused(format!("run {} left no state behind that could be pushed", run.id)));
    };
    let key = format!("{}{}", attempt_prefix(run.stack, attempt.id), object::ERRORED_STATE);
    let stored = api.ports.blobs.get(&key).await?;
    let state = stored.and_then(|bytes| read_state_file(&bytes).ok()).map(state);
    let target = target(&api, &run).await?;
    let (namespace, name) = (run.name.namespace.clone(), run.name.name.clone());
    Ok(Json(RecoveryView { namespace, name, attempt: attempt.id.to_string(), target, state }))
}

/// Where the stack's state lies now: there it is pushed.
async fn target(api: &Api, run: &Run) -> Result<String, Problem> {
    let store = &*api.ports.store;
    let stack = lookup::stack_of_run(store, run).await?;
    let definition = lookup::definition(store, run.stack).await?;
    let spec = definition.as_ref().map_or(&run.spec, |definition| &definition.spec);
    let observation = lookup::read(store, &Key::observation(run.stack)).await?;
    Ok(state_target(&stack, spec, observation.as_ref()))
}

fn state(file: StateFile) -> StateView {
    let StateFile { serial, lineage, resources } = file;
    let resources = match resources {
        Held::Addresses(addresses) => Some(addresses),
        Held::Encrypted => None,
    };
    StateView { serial, lineage, resources }
}
