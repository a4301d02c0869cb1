//! The order in which the messages of a queue may be received. Only the first of each group can be; it is either
//! ready, or hidden until a point in time (it is out, or was released for later).

use std::collections::{BTreeSet, HashMap};

use yuba_core::message::Message;
use yuba_core::time::{Span, Timestamp};
use yuba_ports::Received;

/// How long deduplication ids are remembered, as SQS does. They are forgotten with the process.
const REMEMBERED: Span = Span::minutes(5);

/// Messages by the order in which they were sent.
#[derive(Debug, Default)]
pub(super) struct Line {
    messages: HashMap<u64, Entry>,
    groups: HashMap<String, BTreeSet<u64>>,
    ready: BTreeSet<u64>,
    hidden: BTreeSet<(Timestamp, u64)>,
    sent: HashMap<String, Timestamp>,
    sent_order: BTreeSet<(Timestamp, String)>,
}

#[derive(Debug)]
struct Entry {
    message: Message,
    visible_at: Timestamp,
    receives: u32,
}

impl Line {
    /// Whether no message with this one's deduplication id was added within the last minutes.
    pub(super) fn is_new(&mut self, message: &Message, now: Timestamp) -> bool {
        while self.sent_order.first().is_some_and(|(at, _)| now.since(*at) >= REMEMBERED)
            && let Some((_, forgotten)) = self.sent_order.pop_first()
        {
            self.sent.remove(&forgotten);
        }
        !self.sent.contains_key(&message.deduplication_id())
    }

    /// Adds a message at the end; ids grow.
    pub(super) fn add(&mut self, id: u64, message: Message, now: Timestamp) {
        let deduplication_id = message.deduplication_id();
        if self.sent.insert(deduplication_id.clone(), now).is_none() {
            self.sent_order.insert((now, deduplication_id));
        }
        let group = self.groups.entry(message.group()).or_default();
        if group.is_empty() {
            self.ready.insert(id);
        }
        group.insert(id);
        self.messages.insert(id, Entry { message, visible_at: now, receives: 0 });
    }

    /// Takes at most `most` messages that may be received, and hides them.
    pub(super) fn take(&mut self, most: usize, now: Timestamp, hidden_until: Timestamp) -> Vec<Received> {
        while self.hidden.first().is_some_and(|(at, _)| *at <= now)
            && let Some((_, id)) = self.hidden.pop_first()
        {
            self.ready.insert(id);
        }
        let mut received = Vec::new();
        while received.len() < most
            && let Some(id) = self.ready.pop_first()
            && let Some(entry) = self.messages.get_mut(&id)
        {
            entry.visible_at = hidden_until;
            entry.receives += 1;
            self.hidden.insert((hidden_until, id));
            received.push(entry.received(id));
        }
        received
    }

    /// Whether another message may be received now.
    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// When the next hidden message may be received.
    pub(super) fn next_visible(&self) -> Option<Timestamp> {
        self.hidden.first().map(|(at, _)| *at)
    }

    /// The message that a receipt names, if no later receipt of it was given.
    pub(super) fn held(&self, receipt: &str) -> Option<u64> {
        let (id, receives) = receipt.split_once('.')?;
        let id = id.parse().ok()?;
        let newest = self.messages.get(&id)?.receives;
        (newest.to_string() == receives).then_some(id)
    }

    /// Lets a message that is out be received again at a point in time.
    pub(super) fn release(&mut self, receipt: &str, at: Timestamp) {
        let Some(id) = self.held(receipt) else { return };
        let Some(entry) = self.messages.get_mut(&id) else { return };
        self.ready.remove(&id);
        self.hidden.remove(&(entry.visible_at, id));
        entry.visible_at = at;
        self.hidden.insert((at, id));
    }

    /// Removes a message; the next of its group may be received.
    pub(super) fn remove(&mut self, id: u64, now: Timestamp) {
        let Some(entry) = self.messages.remove(&id) else { return };
        self.ready.remove(&id);
        self.hidden.remove(&(entry.visible_at, id));
        let name = entry.message.group();
        let Some(group) = self.groups.get_mut(&name) else { return };
        group.remove(&id);
        match group.first().copied() {
            None => drop(self.groups.remove(&name)),
            Some(next) => self.show(next, now),
        }
    }

    /// Makes the first message of a group ready, unless it is hidden.
    fn show(&mut self, id: u64, now: Timestamp) {
        let hidden = self.messages.get(&id).is_some_and(|entry| entry.visible_at > now);
        if !hidden {
            self.ready.insert(id);
        }
    }
}

impl Entry {
    fn received(&self, id: u64) -> Received {
        let receipt = format!("{id}.{}", self.receives);
        Received { message: self.message.clone(), receipt, receives: self.receives }
    }
}
