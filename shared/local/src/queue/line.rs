//! The order in which the messages of a queue may be received: the first of each group, as long as none of the group is
//! hidden until a point in time (it is out, or was released for later).
//!
//! What comes again comes alone: a message that cannot be handled fails with those that were received with it once,
//! and after that by itself.

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
    groups: HashMap<String, Group>,
    /// The first message of each group of which none is hidden.
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

/// The messages of a group in their order, and how many of them are hidden.
#[derive(Debug, Default)]
struct Group {
    ids: BTreeSet<u64>,
    hidden: usize,
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
        if group.ids.is_empty() {
            self.ready.insert(id);
        }
        group.ids.insert(id);
        self.messages.insert(id, Entry { message, visible_at: now, receives: 0 });
    }

    /// Takes the first messages, at most `most`, of the group that has waited longest, and hides them.
    pub(super) fn take(&mut self, most: usize, now: Timestamp, hidden_until: Timestamp) -> Vec<Received> {
        while let Some((at, id)) = self.hidden.first().copied().filter(|(at, _)| *at <= now) {
            self.hidden.remove(&(at, id));
            self.shown(id);
        }
        let Some(first) = self.ready.first().and_then(|id| self.messages.get(id)) else { return Vec::new() };
        let most = if first.receives == 0 { most } else { 1 };
        let group = self.groups.get(&first.message.group());
        let ids: Vec<u64> = group.into_iter().flat_map(|group| &group.ids).take(most).copied().collect();
        ids.into_iter().filter_map(|id| self.receive(id, hidden_until)).collect()
    }

    fn receive(&mut self, id: u64, hidden_until: Timestamp) -> Option<Received> {
        self.hide(id, hidden_until);
        let entry = self.messages.get_mut(&id)?;
        entry.receives += 1;
        Some(entry.received(id))
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
        if let Some(id) = self.held(receipt) {
            self.hide(id, at);
        }
    }

    /// Removes a message; the next of its group may be received, unless others are hidden.
    pub(super) fn remove(&mut self, id: u64) {
        let Some(entry) = self.messages.get(&id) else { return };
        let name = entry.message.group();
        if self.hidden.remove(&(entry.visible_at, id)) {
            self.shown(id);
        }
        self.messages.remove(&id);
        let was_first = self.ready.remove(&id);
        let Some(group) = self.groups.get_mut(&name) else { return };
        group.ids.remove(&id);
        match group.ids.first() {
            None => drop(self.groups.remove(&name)),
            Some(next) if was_first => drop(self.ready.insert(*next)),
            Some(_) => {}
        }
    }

    /// Hides a message, and so its group.
    fn hide(&mut self, id: u64, until: Timestamp) {
        let Some(entry) = self.messages.get_mut(&id) else { return };
        let was_hidden = self.hidden.remove(&(entry.visible_at, id));
        entry.visible_at = until;
        self.hidden.insert((until, id));
        let Some(group) = self.groups.get_mut(&entry.message.group()).filter(|_| !was_hidden) else { return };
        group.hidden += 1;
        if let Some(first) = group.ids.first() {
            self.ready.remove(first);
        }
    }

    /// A message is hidden no more: nor is its group, if it was the last.
    fn shown(&mut self, id: u64) {
        let Some(entry) = self.messages.get(&id) else { return };
        let Some(group) = self.groups.get_mut(&entry.message.group()) else { return };
        group.hidden -= 1;
        if let Some(first) = group.ids.first().filter(|_| group.hidden == 0) {
            self.ready.insert(*first);
        }
    }
}

impl Entry {
    fn received(&self, id: u64) -> Received {
        let receipt = format!("{id}.{}", self.receives);
        Received { message: self.message.clone(), receipt, receives: self.receives }
    }
}
