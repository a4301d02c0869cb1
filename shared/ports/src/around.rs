//! What decisions about a stack read around it: who names its state, which it may be under a new name, who is in which
//! team.

use std::collections::BTreeSet;

use yuba_core::decide::Former;
use yuba_core::declared::DeclaredSpec;
use yuba_core::freeze::{Freeze, FreezeSpec};
use yuba_core::id::StackId;
use yuba_core::people::{Roster, Team};
use yuba_core::record::{Edge, Key, Record, TEAMS, state_partition};
use yuba_core::request::{Adoption, Ask, Request};
use yuba_core::source::{Definition, Observation};
use yuba_core::stack::Stack;
use yuba_core::state_address::{SameState, known_address};

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
    let (Some(address), mut after) = (mine.digest(), None) else { return Ok(None) };
    loop {
        let (partition, prefix) = (state_partition(address), "stack#".to_owned());
        let query = Query::Partition { partition, prefix, order: Order::Ascending, after, limit: 100 };
        let (edges, next) = page::<Edge>(store, query).await?;
        for edge in edges.iter().filter(|edge| edge.stack != id) {
            let other = value::<Definition>(store, &Key::definition(edge.stack)).await?;
            let seen = value::<Observation>(store, &Key::observation(edge.stack)).await?;
            if let Some(found) = other.and_then(|other| SameState::of(&mine, &other, seen.as_ref())) {
                return Ok(Some(found));
            }
        }
        match next {
            Some(cursor) => after = Some(cursor),
            None => return Ok(None),
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
