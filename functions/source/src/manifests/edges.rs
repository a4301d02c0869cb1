//! The edges of a stack: whom it waits for, what it reads, where its code and its state lie.

use std::collections::BTreeSet;

use yuba_core::id::{StackId, StackName};
use yuba_core::record::{Edge, Key};
use yuba_core::source::{Definition, Observation};
use yuba_core::spec::StackSpec;
use yuba_core::state_address::known_address;
use yuba_ports::records::put_any;
use yuba_ports::{Expected, PortError, Ports, Write};

use crate::states;

/// A commit holds up to 100 writes.
const BATCH: usize = 90;

/// Brings a stack's edges to what its new settings need. They are written before the settings are: cut in between, the
/// next try finds the old settings and does it again.
pub(super) async fn write(
    ports: &Ports,
    before: Option<&Definition>,
    stack: (StackId, &StackName),
    spec: Option<&StackSpec>,
    seen: Option<&Observation>,
) -> Result<(), PortError> {
    let (id, name) = stack;
    let old = before.map(|before| keys(id, &before.spec, seen)).unwrap_or_default();
    let new = spec.map(|spec| keys(id, spec, seen)).unwrap_or_default();
    let renamed = before.is_some_and(|before| before.name != *name);
    let mut writes = Vec::new();
    for at in new
        .iter()
        .filter(|at| renamed || before.is_none_or(|before| before.vanished.is_some()) || !old.contains(*at))
    {
        writes.push(put_any(&Edge { at: at.clone(), stack: id, name: name.clone() })?);
    }
    for at in old.difference(&new) {
        writes.push(Write::Delete { key: at.clone(), expected: Expected::Any });
    }
    for batch in writes.chunks(BATCH) {
        ports.store.commit(batch.to_vec()).await?;
    }
    Ok(())
}

fn keys(stack: StackId, spec: &StackSpec, seen: Option<&Observation>) -> BTreeSet<Key> {
    let waits = spec.depends_on.iter().map(|dependency| Key::dependant(dependency, stack));
    let reads = spec.vars_from.iter().map(|values| Key::reader(&values.name, stack));
    let state = states::edge(&known_address(spec, seen), stack);
    waits.chain(reads).chain([Key::source_stack(&spec.source, stack)]).chain(state).collect()
}
