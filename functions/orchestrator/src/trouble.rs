//! Edges from a trouble to the stacks that have it, and whether notice of it was given.

use yuba_core::id::{RunId, StackId};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::{Edge, Key, trouble_partition};
use yuba_core::source::Definition;
use yuba_core::stack::Stack;
use yuba_core::trouble::{MANY, Trouble, tries_again};
use yuba_ports::records::{self, Versioned, load, put_any};
use yuba_ports::{Committed, Cursor, Expected, Order, PortError, Ports, Query, Write};

/// How many stacks are let go at once.
const BATCH: usize = 100;

/// How many stacks have the error that stopped this one last, and whether this is the one that goes on trying.
pub(crate) async fn load_trouble(ports: &Ports, stack: &Stack) -> Result<Option<Trouble>, PortError> {
    let Some(retry) = stack.retry.as_ref().filter(|retry| retry.due.is_some()) else { return Ok(None) };
    let having = having(ports, &retry.signature).await?;
    if having.len() < MANY {
        return Ok(Some(Trouble { stacks: having.len(), probes: false, noticed: false }));
    }
    let noticed = ports.store.get(&Key::trouble_notice(&retry.signature)).await?.is_some();
    let prober = prober(ports, &retry.signature, &having).await?;
    Ok(Some(Trouble { stacks: having.len(), probes: prober.is_none_or(|id| id == stack.id), noticed }))
}

/// A stack that has a trouble, with what the manifests say of it.
type Having = (StackId, Option<Versioned<Definition>>);

/// The first [`MANY`] stacks that have a trouble. One that vanished from the manifests has none any more.
async fn having(ports: &Ports, signature: &str) -> Result<Vec<Having>, PortError> {
    let (mut having, mut after) = (Vec::new(), None);
    loop {
        let (edges, next) = page(ports, signature, after, MANY).await?;
        for id in edges.into_iter().map(|edge| edge.stack) {
            let definition = load::<Definition>(&*ports.store, &Key::definition(id)).await?;
            let has_vanished = definition.as_ref().is_some_and(|definition| definition.vanished.is_some());
            if !has_vanished {
                having.push((id, definition));
            }
        }
        after = next;
        if after.is_none() || having.len() >= MANY {
            having.truncate(MANY);
            return Ok(having);
        }
    }
}

/// The first stack that goes on trying.
async fn prober(ports: &Ports, signature: &str, having: &[Having]) -> Result<Option<StackId>, PortError> {
    for (id, definition) in having {
        let stack = load::<Stack>(&*ports.store, &Key::stack(*id)).await?;
        if let (Some(stack), Some(definition)) = (stack, definition)
            && tries_again(&stack, definition, signature)
        {
            return Ok(Some(*id));
        }
    }
    Ok(None)
}

/// Notes that the stack has the trouble.
pub(crate) async fn note_trouble(ports: &Ports, stack: &Stack, signature: &str) -> Result<(), PortError> {
    let edge = Edge { at: Key::trouble(signature, stack.id), stack: stack.id, name: stack.name.clone() };
    ports.store.commit(vec![put_any(&edge)?]).await.map(|_| ())
}

/// The stack no longer has it. Where many had, all that wait are let go and woken: it is over, or they note it again.
/// Cut in between, those that were let go and not woken try by themselves within minutes.
///
/// The stack's own edge goes last, together with the notice: where it is gone, all of this was done before, and the
/// notice that stands is of another trouble.
pub(crate) async fn clear_trouble(
    ports: &Ports,
    stack: &Stack,
    signature: &str,
    run: RunId,
) -> Result<(), PortError> {
    let own = Key::trouble(signature, stack.id);
    let Some(edge) = load::<Edge>(&*ports.store, &own).await? else { return Ok(()) };
    if edges(ports, signature, MANY).await?.len() >= MANY {
        let_others_go(ports, stack.id, signature, run).await?;
    }
    let notice = Write::Delete { key: Key::trouble_notice(signature), expected: Expected::Any };
    let own = Write::Delete { key: own, expected: edge.expected() };
    match ports.store.commit(vec![own, notice]).await? {
        Committed::Done => Ok(()),
        Committed::Conflict(key) => Err(PortError::transient(format!("{key} was written meanwhile"))),
    }
}

async fn let_others_go(ports: &Ports, id: StackId, signature: &str, run: RunId) -> Result<(), PortError> {
    let cause = Cause::Dependency { stack: id, run };
    loop {
        let mut others = edges(ports, signature, BATCH).await?;
        others.retain(|edge| edge.stack != id);
        if others.is_empty() {
            return Ok(());
        }
        let delete = |edge: &Edge| Write::Delete { key: edge.at.clone(), expected: Expected::Any };
        ports.store.commit(others.iter().map(delete).collect()).await?;
        let wake = |edge: &Edge| Message::new(Wake::Stack(edge.stack), cause.clone());
        ports.queue.send(others.iter().map(wake).collect()).await?;
    }
}

async fn edges(ports: &Ports, signature: &str, limit: usize) -> Result<Vec<Edge>, PortError> {
    Ok(page(ports, signature, None, limit).await?.0)
}

async fn page(
    ports: &Ports,
    signature: &str,
    after: Option<Cursor>,
    limit: usize,
) -> Result<(Vec<Edge>, Option<Cursor>), PortError> {
    let (partition, prefix) = (trouble_partition(signature), String::new());
    let query = Query::Partition { partition, prefix, order: Order::Ascending, after, limit };
    let (edges, next) = records::page::<Edge>(&*ports.store, query).await?;
    Ok((edges.into_iter().map(Versioned::into_value).collect(), next))
}
