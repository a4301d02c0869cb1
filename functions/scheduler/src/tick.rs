//! One look at what is due.

use yuba_core::id::{ManifestSetName, StackId};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::{Index, Key, sortable};
use yuba_core::stack::Stack;
use yuba_core::time::{Span, Timestamp};
use yuba_ports::records::Versioned;
use yuba_ports::{Cursor, Item, Order, Page, PortError, Ports, Query};

use crate::anchor::anchor;
use crate::prune::prune;
use crate::slot::slot;

/// How many records are read at once.
const PAGE: usize = 100;
/// When to look again while little is being handled: handled records leave the index in a moment.
const SOON: Span = Span::seconds(1);
/// When to look again while much is being handled.
const LATER: Span = Span::seconds(5);

/// What a tick did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Ticked {
    /// How many messages were sent; the queue may drop some as repetitions.
    pub sent: usize,
    /// When the next tick has something to do, as far as is known now. A record that is written later may be due
    /// earlier.
    pub next_due: Option<Timestamp>,
    /// Since when the record that is due longest has been due.
    pub due_since: Option<Timestamp>,
    /// Since when the effect that is due longest has been due.
    pub effects_since: Option<Timestamp>,
}

/// Wakes every record that is due, and every stack with an effect that is due, forgets what was kept long enough, and
/// anchors the audit trail once a day.
pub async fn tick(ports: &Ports) -> Result<Ticked, PortError> {
    let now = ports.clock.now();
    let due = wake_due(ports, now).await?;
    let effects = sweep_effects(ports, now).await?;
    prune(ports, now).await?;
    anchor(ports, now).await?;
    let sent = due.sent + effects.sent;
    let next_due = match sent {
        0 => earliest(first_due(ports).await?, effects.next),
        1..PAGE => Some(now + SOON),
        _ => Some(now + LATER),
    };
    Ok(Ticked { sent, next_due, due_since: due.since, effects_since: effects.since })
}

/// What a sweep did.
#[derive(Default)]
struct Swept {
    sent: usize,
    /// Since when what is due longest has been due.
    since: Option<Timestamp>,
    /// When something else will be.
    next: Option<Timestamp>,
}

async fn wake_due(ports: &Ports, now: Timestamp) -> Result<Swept, PortError> {
    let (mut swept, mut after) = (Swept::default(), None);
    loop {
        let page = entries(ports, Index::Due, Some(now), (after, PAGE)).await?;
        let messages: Vec<Message> = page.items.iter().filter_map(|item| due_message(item, now)).collect();
        swept.since = earliest(swept.since, page.items.iter().filter_map(due_of).min());
        swept.sent += messages.len();
        send(ports, messages).await?;
        match page.next {
            None => return Ok(swept),
            next => after = next,
        }
    }
}

async fn sweep_effects(ports: &Ports, now: Timestamp) -> Result<Swept, PortError> {
    let (mut swept, mut after) = (Swept::default(), None);
    loop {
        let page = entries(ports, Index::Effects, Some(now), (after, PAGE)).await?;
        let (overdue, later): (Vec<_>, Vec<_>) =
            page.items.into_iter().filter_map(effect_due).partition(|(_, due)| *due <= now);
        swept.next = earliest(swept.next, later.into_iter().map(|(_, due)| due).min());
        swept.since = earliest(swept.since, overdue.iter().map(|(_, due)| *due).min());
        let wake = |(stack, due)| message(Wake::Stack(stack), slot(due, now));
        let messages: Vec<Message> = overdue.into_iter().map(wake).collect();
        swept.sent += messages.len();
        send(ports, messages).await?;
        match page.next {
            None => return Ok(swept),
            next => after = next,
        }
    }
}

/// When the first of a stack's effects is due; one that was given up is due too, for the decision on what follows.
fn effect_due(item: Item) -> Option<(StackId, Timestamp)> {
    let key = item.key.clone();
    let stack = match Versioned::<Stack>::from_item(item) {
        Ok(stack) => stack.into_value(),
        Err(error) => {
            tracing::error!(%key, %error, "a stack with pending effects cannot be read");
            return None;
        }
    };
    let due = stack.outbox.iter().map(|effect| effect.due).min()?;
    Some((stack.id, due))
}

async fn first_due(ports: &Ports) -> Result<Option<Timestamp>, PortError> {
    let page = entries(ports, Index::Due, None, (None, 1)).await?;
    Ok(page.items.first().and_then(due_of))
}

async fn entries(
    ports: &Ports,
    index: Index,
    up_to: Option<Timestamp>,
    (after, limit): (Option<Cursor>, usize),
) -> Result<Page, PortError> {
    let (prefix, order, up_to) = (String::new(), Order::Ascending, up_to.map(sortable));
    ports.store.query(Query::Index { index, prefix, up_to, order, after, limit }).await
}

async fn send(ports: &Ports, messages: Vec<Message>) -> Result<(), PortError> {
    if messages.is_empty() { Ok(()) } else { ports.queue.send(messages).await }
}

fn due_message(item: &Item, now: Timestamp) -> Option<Message> {
    let due = due_of(item).filter(|due| *due <= now)?;
    let Some(wake) = whom(&item.key) else {
        tracing::error!(key = %item.key, "a record is due, and nobody handles records of its kind");
        return None;
    };
    Some(message(wake, slot(due, now)))
}

fn message(wake: Wake, slot: Timestamp) -> Message {
    Message::new(wake, Cause::Due { slot })
}

fn due_of(item: &Item) -> Option<Timestamp> {
    let entry = item.indexes.iter().find(|entry| entry.index == Index::Due)?;
    entry.value.parse().ok().map(Timestamp)
}

/// Whom a due record's kind is handled by.
fn whom(key: &Key) -> Option<Wake> {
    let (kind, name) = key.partition.split_once('#')?;
    match (kind, key.sort.as_str()) {
        ("stack", "stack") => name.parse().ok().map(Wake::Stack),
        ("source", "source") => name.parse().ok().map(Wake::Source),
        ("manifests", "set") => Some(Wake::Manifests(ManifestSetName(name.to_owned()))),
        ("notices", _) => name.parse().ok().map(Wake::Provider),
        _ => None,
    }
}

fn earliest(left: Option<Timestamp>, right: Option<Timestamp>) -> Option<Timestamp> {
    left.into_iter().chain(right).min()
}
