//! Who names a state: an edge by its address for each stack, and messages to those that name the same one.
//!
//! An edge only leads to a stack; its records decide. So it is written before the record that it stands for, and one
//! that was left over does no harm.

use std::collections::BTreeSet;

use yuba_core::id::{StackId, StackName};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::{Edge, Key, state_partition};
use yuba_core::state_address::StateAddress;
use yuba_ports::records::put_any;
use yuba_ports::{Expected, PortError, Ports, Write};

use crate::stored::stack_edges;

/// A commit holds up to 100 writes.
const BATCH: usize = 90;

/// A stack whose state's address is new, or was written by a look that was cut.
#[derive(Debug)]
pub(crate) struct Move {
    pub(crate) stack: StackId,
    pub(crate) name: StackName,
    pub(crate) before: StateAddress,
    pub(crate) after: StateAddress,
}

/// Writes the edges of the addresses that stacks have now.
pub(crate) async fn enter(ports: &Ports, moves: &[Move]) -> Result<(), PortError> {
    let mut writes = Vec::new();
    for Move { stack, name, after, .. } in moves {
        if let Some(at) = edge(after, *stack) {
            writes.push(put_any(&Edge { at, stack: *stack, name: name.clone() })?);
        }
    }
    commit(ports, &writes).await
}

/// Wakes whoever names the addresses that stacks came to or left, and removes the edges of those that they left.
pub(crate) async fn leave(ports: &Ports, moves: &[Move]) -> Result<(), PortError> {
    let mut writes = Vec::new();
    for Move { stack, before, after, .. } in moves {
        let left = Some(before).filter(|before| *before != after);
        wake_others(ports, *stack, &[before.clone(), after.clone()]).await?;
        let key = left.and_then(|left| edge(left, *stack));
        writes.extend(key.map(|key| Write::Delete { key, expected: Expected::Any }));
    }
    commit(ports, &writes).await
}

/// The edge of a stack's address.
pub(crate) fn edge(address: &StateAddress, stack: StackId) -> Option<Key> {
    Some(Key::state(address.digest()?, stack))
}

/// Wakes the other stacks that name one of these states, as far as those are known for certain. Losing such a message
/// costs minutes: who shares a state looks again, and every decision asks who does.
pub(crate) async fn wake_others(
    ports: &Ports,
    stack: StackId,
    addresses: &[StateAddress],
) -> Result<(), PortError> {
    let mut others = BTreeSet::new();
    for address in addresses.iter().filter(|address| address.place().is_some()) {
        let Some(digest) = address.digest() else { continue };
        let edges = stack_edges(ports, &state_partition(digest)).await?;
        others.extend(edges.into_iter().map(|edge| edge.stack).filter(|other| *other != stack));
    }
    let cause = Cause::SameState { stack, at: ports.clock.now() };
    let messages: Vec<Message> =
        others.into_iter().map(|other| Message::new(Wake::Stack(other), cause.clone())).collect();
    if messages.is_empty() { Ok(()) } else { ports.queue.send(messages).await }
}

async fn commit(ports: &Ports, writes: &[Write]) -> Result<(), PortError> {
    for batch in writes.chunks(BATCH) {
        ports.store.commit(batch.to_vec()).await?;
    }
    Ok(())
}
