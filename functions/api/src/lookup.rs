//! Finding records by the names that people use.

use yuba_core::id::{RunId, StackId, StackName};
use yuba_core::record::{Index, Key, Record, StackAlias, stack_partition};
use yuba_core::run::Run;
use yuba_core::source::Definition;
use yuba_core::stack::Stack;
use yuba_core::time::Timestamp;
use yuba_ports::records::{Versioned, load, page};
use yuba_ports::{Cursor, Order, PortError, Query, Store};

use crate::problem::Problem;

/// The stack of a name.
pub(crate) async fn stack(store: &dyn Store, name: &StackName) -> Result<Stack, Problem> {
    let alias = load::<StackAlias>(store, &Key::stack_name(name)).await?;
    let stack = match alias {
        Some(alias) => stack_of(store, alias.stack).await?,
        None => None,
    };
    stack.ok_or_else(|| {
        Problem::not_found(format!("there is no stack {name}"))
            .with_help("`yuba get stacks` lists all stacks")
    })
}

/// The stack of an id; one that was defined and never looked at counts as made with its id.
pub(crate) async fn stack_of(store: &dyn Store, id: StackId) -> Result<Option<Stack>, PortError> {
    if let Some(stack) = read::<Stack>(store, &Key::stack(id)).await? {
        return Ok(Some(stack));
    }
    let made = Timestamp(i64::try_from(id.0.timestamp_ms()).unwrap_or(i64::MAX));
    Ok(definition(store, id).await?.map(|definition| Stack::new(id, definition.name, made)))
}

/// The run of an id.
pub(crate) async fn run(store: &dyn Store, id: RunId) -> Result<Run, Problem> {
    let query = index(Index::Runs, id.to_string(), None, 1);
    let (runs, _) = page::<Run>(store, query).await?;
    runs.into_iter().next().map(Versioned::into_value).ok_or_else(|| {
        Problem::not_found(format!("there is no run {id}")).with_help("`yuba get runs` lists the last runs")
    })
}

/// The stack of a run; where its record is gone, one of which nothing else is known.
pub(crate) async fn stack_of_run(store: &dyn Store, run: &Run) -> Result<Stack, PortError> {
    let known = stack_of(store, run.stack).await?;
    Ok(known.unwrap_or_else(|| Stack::new(run.stack, run.name.clone(), run.created_at)))
}

/// A run of a stack.
pub(crate) async fn run_of(
    store: &dyn Store,
    stack: StackId,
    run: Option<RunId>,
) -> Result<Option<Run>, PortError> {
    match run {
        Some(run) => read(store, &Key::run(stack, run)).await,
        None => Ok(None),
    }
}

/// What the manifests say of a stack.
pub(crate) async fn definition(store: &dyn Store, stack: StackId) -> Result<Option<Definition>, PortError> {
    read(store, &Key::definition(stack)).await
}

/// One page of the runs of a stack, newest first.
pub(crate) async fn runs_of(
    store: &dyn Store,
    stack: StackId,
    after: Option<Cursor>,
    limit: usize,
) -> Result<(Vec<Run>, Option<Cursor>), PortError> {
    let query = Query::Partition {
        partition: stack_partition(stack),
        prefix: "run#".to_owned(),
        order: Order::Descending,
        after,
        limit,
    };
    values(store, query).await
}

/// A record alone, without its version.
pub(crate) async fn read<T: Record>(store: &dyn Store, key: &Key) -> Result<Option<T>, PortError> {
    Ok(load::<T>(store, key).await?.map(Versioned::into_value))
}

/// One page of records, without their versions.
pub(crate) async fn values<T: Record>(
    store: &dyn Store,
    query: Query,
) -> Result<(Vec<T>, Option<Cursor>), PortError> {
    let (records, next) = page::<T>(store, query).await?;
    Ok((records.into_iter().map(Versioned::into_value).collect(), next))
}

/// A query of an index upwards.
pub(crate) fn index(index: Index, prefix: String, after: Option<Cursor>, limit: usize) -> Query {
    Query::Index { index, prefix, up_to: None, order: Order::Ascending, after, limit }
}

/// A query of an index downwards.
pub(crate) fn newest(index: Index, after: Option<Cursor>, limit: usize) -> Query {
    Query::Index { index, prefix: String::new(), up_to: None, order: Order::Descending, after, limit }
}
