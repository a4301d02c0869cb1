//! Why a stack was planned, as far as the records say it: for whoever has repositories too, and for whoever has none.

use yuba_core::id::{StackId, StackName};
use yuba_core::record::{Key, StackAlias, stack_partition};
use yuba_core::run::Run;
use yuba_core::source::{Definition, Observation};
use yuba_core::stack::Stack;
use yuba_core::why::Why;

use crate::error::PortError;
use crate::records::{Versioned, load, page};
use crate::store::{Order, Query, Store};

/// How many of the newest runs are searched for a revision.
const RUNS: usize = 100;

/// What the manifests say of the stack of this name; `None` where there is none.
pub async fn definition(store: &dyn Store, stack: &StackName) -> Result<Option<Definition>, PortError> {
    let Some(alias) = load::<StackAlias>(store, &Key::stack_name(stack)).await? else { return Ok(None) };
    let definition = load::<Definition>(store, &Key::definition(alias.stack)).await?;
    Ok(definition.map(Versioned::into_value))
}

/// What the newest run was made for, or why there is none.
pub async fn newest_run(store: &dyn Store, definition: &Definition) -> Result<Why, PortError> {
    let id = definition.stack;
    let latest = load::<Stack>(store, &Key::stack(id)).await?.and_then(|stack| stack.latest);
    let run = match latest {
        Some(run) => load::<Run>(store, &Key::run(id, run)).await?,
        None => None,
    };
    let observation = load::<Observation>(store, &Key::observation(id)).await?;
    if let Some(run) = run {
        let notices = observation.map(|seen| seen.into_value().notices).unwrap_or_default();
        return Ok(made_for(run.into_value(), notices));
    }
    let reason = match observation {
        Some(seen) if !seen.problems.is_empty() => seen.problems.join("; "),
        Some(seen) => format!("revision {} was found, and no run was made of it yet", seen.revision),
        None => format!("nothing was found in source {} yet", definition.spec.source),
    };
    Ok(Why::NoRun { reason })
}

/// What a run was made for.
pub fn made_for(run: Run, notices: Vec<String>) -> Why {
    let Run { id: run, revision, because, .. } = run;
    Why::Run { run, revision: revision.to_string(), because, notices }
}

/// The newest of the last hundred runs that is one.
pub async fn run_where(
    store: &dyn Store,
    stack: StackId,
    is_one: impl Fn(&Run) -> bool,
) -> Result<Option<Run>, PortError> {
    let (partition, prefix, order) = (stack_partition(stack), "run#".to_owned(), Order::Descending);
    let query = Query::Partition { partition, prefix, order, after: None, limit: RUNS };
    let (runs, _) = page::<Run>(store, query).await?;
    Ok(runs.into_iter().map(Versioned::into_value).find(|run| is_one(run)))
}
