//! What decisions about a stack read around it: who names its state, which it may be under a new name, who is in which
//! team.

use std::collections::BTreeSet;

use yuba_core::decide::{Former, Holder};
use yuba_core::declared::DeclaredSpec;
use yuba_core::freeze::{Freeze, FreezeSpec};
use yuba_core::id::StackId;
use yuba_core::people::{Roster, Team};
use yuba_core::record::{Edge, Key, Record, TEAMS, state_partition};
use yuba_core::request::{Adoption, Ask, Request};
use yuba_core::run::Run;
use yuba_core::source::{Definition, Observation};
use yuba_core::stack::Stack;
use yuba_core::state_address::{SameState, StateAddress, known_address};

use crate::error::PortError;
use crate::records::{Versioned, load, page};
use crate::store::{Expected, Order, Query, Store, Write};

/// Another stack that names the same state, or may.
pub async fn same_state(
    store: &dyn Store,
    id: StackId,
    definition: Option<&Definition>,
    seen: Option<&Observation>,
) -> Result<Option<SameState>, PortError> {
    let Some(definition) = definition else { return Ok(None) };
    let mine = known_address(&definition.spec, seen);
    let others = beside(store, id, &mine).await?;
    Ok(others.iter().find_map(|(other, seen)| SameState::of(&mine, other, seen.as_ref())))
}

/// An attempt of another stack with the same state that is out, where the request is one that must not disturb it.
pub async fn holder(
    store: &dyn Store,
    id: StackId,
    (definition, seen): (Option<&Definition>, Option<&Observation>),
    request: Option<&Request>,
) -> Result<Option<Holder>, PortError> {
    let unlocks = request.is_some_and(|request| matches!(request.ask, Ask::Unlock { .. }));
    let Some(definition) = definition.filter(|_| unlocks) else { return Ok(None) };
    let mine = known_address(&definition.spec, seen);
    for (other, seen) in beside(store, id, &mine).await? {
        let stack = value::<Stack>(store, &Key::stack(other.stack)).await?;
        let run = stack.and_then(|stack| stack.run).filter(|_| mine.is_shared_by(&other, seen.as_ref()));
        let Some(run) = run else { continue };
        let run = value::<Run>(store, &Key::run(other.stack, run)).await?;
        if let Some(attempt) = run.as_ref().and_then(Run::attempt_out) {
            return Ok(Some(Holder { name: other.name, attempt }));
        }
    }
    Ok(None)
}

/// The stacks that lie beside one by the address of its state, with what was seen of their code.
async fn beside(
    store: &dyn Store,
    id: StackId,
    mine: &StateAddress,
) -> Result<Vec<(Definition, Option<Observation>)>, PortError> {
    let (mut others, mut after) = (Vec::new(), None);
    let Some(address) = mine.digest() else { return Ok(others) };
    loop {
        let (partition, prefix) = (state_partition(address), "stack#".to_owned());
        let query = Query::Partition { partition, prefix, order: Order::Ascending, after, limit: 100 };
        let (edges, next) = page::<Edge>(store, query).await?;
        for edge in edges.iter().filter(|edge| edge.stack != id) {
            let other = value::<Definition>(store, &Key::definition(edge.stack)).await?;
            let seen = value::<Observation>(store, &Key::observation(edge.stack)).await?;
            others.extend(other.map(|other| (other, seen)));
        }
        match next {
            Some(cursor) => after = Some(cursor),
            None => return Ok(others),
        }
    }
}

/// A stack that another may be under a new name, as it was read.
#[derive(Debug, Clone)]
pub struct LoadedFormer {
    /// What the decision reads.
    pub former: Former,
    /// Its record, to be written if its state is taken over.
    pub stack: Versioned<Stack>,
    /// That its definition is still the one that was read.
    pub unchanged: Write,
}

/// The stacks that one may be under a new name while nobody said so, and the one that the request names as such.
pub async fn formers(
    store: &dyn Store,
    stack: &Stack,
    definition: Option<&Definition>,
    request: Option<&Request>,
) -> Result<Vec<LoadedFormer>, PortError> {
    let is_open = stack.adopted.is_none() && stack.applied.is_none();
    let may_be = definition.iter().flat_map(|definition| &definition.may_be);
    let handed_to = stack.handed_to.iter().map(|handed| &handed.stack);
    let mut ids: BTreeSet<StackId> = may_be.chain(handed_to).filter(|_| is_open).copied().collect();
    ids.extend(request.and_then(|request| match request.ask {
        Ask::Adopt(Adoption::From(former)) => Some(former),
        _ => None,
    }));
    let mut formers = Vec::new();
    for id in ids.into_iter().filter(|id| *id != stack.id) {
        formers.extend(former(store, id).await?);
    }
    Ok(formers)
}

async fn former(store: &dyn Store, id: StackId) -> Result<Option<LoadedFormer>, PortError> {
    let stack = load::<Stack>(store, &Key::stack(id)).await?;
    let definition = load::<Definition>(store, &Key::definition(id)).await?;
    let (Some(stack), Some(definition)) = (stack, definition) else { return Ok(None) };
    let seen = value::<Observation>(store, &Key::observation(id)).await?;
    let unchanged = Write::Check { key: Key::definition(id), expected: definition.expected() };
    let former = Former::new(stack.clone().into_value(), definition.into_value(), seen.as_ref());
    Ok(Some(LoadedFormer { former, stack, unchanged }))
}

/// What the manifests say that binds decisions about all stacks.
#[derive(Debug, Clone)]
pub struct Bound {
    /// All teams.
    pub teams: Vec<Team>,
    /// All freezes.
    pub freezes: Vec<Freeze>,
    /// The condition that none of them has changed since they were read.
    pub unchanged: Write,
}

/// All teams and freezes.
pub async fn bound(store: &dyn Store) -> Result<Bound, PortError> {
    let key = Key::roster();
    let Some(roster) = load::<Roster>(store, &key).await? else {
        let unchanged = Write::Check { key, expected: Expected::Absent };
        return Ok(Bound { teams: Vec::new(), freezes: Vec::new(), unchanged });
    };
    Ok(Bound {
        teams: teams(store).await?,
        freezes: all(store, FreezeSpec::PARTITION, "").await?,
        unchanged: Write::Check { key, expected: roster.expected() },
    })
}

/// All teams.
pub async fn teams(store: &dyn Store) -> Result<Vec<Team>, PortError> {
    all(store, TEAMS, "team#").await
}

async fn all<T: Record>(store: &dyn Store, partition: &str, prefix: &str) -> Result<Vec<T>, PortError> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let (partition, prefix) = (partition.to_owned(), prefix.to_owned());
        let query = Query::Partition { partition, prefix, order: Order::Ascending, after, limit: 100 };
        let (found, next) = page::<T>(store, query).await?;
        all.extend(found.into_iter().map(Versioned::into_value));
        match next {
            Some(cursor) => after = Some(cursor),
            None => return Ok(all),
        }
    }
}

async fn value<T: Record>(store: &dyn Store, key: &Key) -> Result<Option<T>, PortError> {
    Ok(load::<T>(store, key).await?.map(Versioned::into_value))
}
