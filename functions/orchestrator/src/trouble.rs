//! Edges from a trouble to the stacks that have it.

use yuba_core::id::RunId;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::{Edge, Key, trouble_partition};
use yuba_core::stack::Stack;
use yuba_core::trouble::MANY;
use yuba_ports::records::{self, Versioned, put_any};
use yuba_ports::{Expected, Order, PortError, Ports, Query, Write};

/// Notes that the stack has the trouble.
pub(crate) async fn note_trouble(ports: &Ports, stack: &Stack, signature: &str) -> Result<(), PortError> {
    let edge = Edge { at: Key::trouble(signature, stack.id), stack: stack.id, name: stack.name.clone() };
    ports.store.commit(vec![put_any(&edge)?]).await.map(|_| ())
}

/// The stack no longer has it. Where many had, all that wait are let go and woken: it is over, or they note it again.
/// Cut in between, those that were let go and not woken try by themselves within minutes.
pub(crate) async fn clear_trouble(
    ports: &Ports,
    stack: &Stack,
    signature: &str,
    run: RunId,
) -> Result<(), PortError> {
    let cause = Cause::Dependency { stack: stack.id, run };
    let mut having = edges(ports, signature).await?;
    let many = having.len() >= MANY;
    while many && !having.is_empty() {
        delete(ports, having.iter().map(|edge| edge.at.clone()).collect()).await?;
        let wake = |edge: &Edge| Message::new(Wake::Stack(edge.stack), cause.clone());
        ports.queue.send(having.iter().map(wake).collect()).await?;
        having = edges(ports, signature).await?;
    }
    delete(ports, vec![Key::trouble(signature, stack.id)]).await
}

async fn edges(ports: &Ports, signature: &str) -> Result<Vec<Edge>, PortError> {
    let (partition, prefix) = (trouble_partition(signature), String::new());
    let query = Query::Partition { partition, prefix, order: Order::Ascending, after: None, limit: 100 };
    let (edges, _) = records::page::<Edge>(&*ports.store, query).await?;
    Ok(edges.into_iter().map(Versioned::into_value).collect())
}

async fn delete(ports: &Ports, keys: Vec<Key>) -> Result<(), PortError> {
    let writes = keys.into_iter().map(|key| Write::Delete { key, expected: Expected::Any }).collect();
    ports.store.commit(writes).await.map(|_| ())
}
