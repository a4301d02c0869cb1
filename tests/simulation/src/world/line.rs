//! The queue as SQS FIFO has it: groups in order, one message of a group out at a time, at least once.

use std::collections::{BTreeMap, VecDeque};

use yuba_core::message::Message;
use yuba_core::time::{Span, Timestamp};
use yuba_ports::{QueueName, Received};

/// How long a message that was received is hidden.
pub(crate) const VISIBILITY: Span = Span::minutes(2);
/// How long a deduplication id is remembered.
const REMEMBERED: Span = Span::minutes(5);

/// Messages by group.
#[derive(Debug, Default)]
pub(crate) struct Line {
    groups: BTreeMap<String, VecDeque<Entry>>,
    sent: BTreeMap<String, Timestamp>,
    next: u64,
}

#[derive(Debug)]
struct Entry {
    id: u64,
    message: Message,
    visible_at: Timestamp,
    receives: u32,
}

impl Line {
    /// Takes a message in, unless one with its id came within five minutes. Says whether it did.
    pub(crate) fn send(&mut self, message: &Message, now: Timestamp, delay: Span) -> bool {
        self.sent.retain(|_, at| now.since(*at) < REMEMBERED);
        let id = message.deduplication_id();
        if self.sent.contains_key(&id) {
            return false;
        }
        self.sent.insert(id, now);
        self.push(message, now + delay);
        true
    }

    /// Takes a message in once more, as one that was sent again after its id was forgotten.
    pub(crate) fn push(&mut self, message: &Message, visible_at: Timestamp) {
        self.next += 1;
        let entry = Entry { id: self.next, message: message.clone(), visible_at, receives: 0 };
        self.groups.entry(message.group()).or_default().push_back(entry);
    }

    /// The groups whose next message can be received now.
    pub(crate) fn ready(&self, now: Timestamp) -> Vec<&str> {
        let first = |line: &VecDeque<Entry>| line.front().is_some_and(|entry| entry.visible_at <= now);
        self.groups.iter().filter(|(_, line)| first(line)).map(|(group, _)| group.as_str()).collect()
    }

    /// When the next message that is hidden now can be received.
    pub(crate) fn next_visible(&self, now: Timestamp) -> Option<Timestamp> {
        let first = self.groups.values().filter_map(|line| line.front()).map(|entry| entry.visible_at);
        first.filter(|at| *at > now).min()
    }

    /// Receives the first message of a group.
    pub(crate) fn take(&mut self, group: &str, now: Timestamp) -> Option<(QueueName, Received)> {
        let entry = self.groups.get_mut(group)?.front_mut().filter(|entry| entry.visible_at <= now)?;
        entry.visible_at = now + VISIBILITY;
        entry.receives += 1;
        let receipt = format!("{group} {}.{}", entry.id, entry.receives);
        let received = Received { message: entry.message.clone(), receipt, receives: entry.receives };
        Some((QueueName::of(&received.message), received))
    }

    /// Drops a message that was handled; an old receipt does nothing.
    pub(crate) fn ack(&mut self, received: &Received) {
        let group = received.message.group();
        let Some(line) = self.groups.get_mut(&group) else { return };
        if line.front().is_some_and(|entry| entry.is(received)) {
            line.pop_front();
        }
        if line.is_empty() {
            self.groups.remove(&group);
        }
    }

    /// Lets a message come again after a while; an old receipt does nothing.
    pub(crate) fn release(&mut self, received: &Received, visible_at: Timestamp) {
        let line = self.groups.get_mut(&received.message.group());
        if let Some(entry) = line.and_then(|line| line.front_mut()).filter(|entry| entry.is(received)) {
            entry.visible_at = visible_at;
        }
    }

    /// How many messages there are.
    pub(crate) fn len(&self) -> usize {
        self.groups.values().map(VecDeque::len).sum()
    }
}

impl Entry {
    fn is(&self, received: &Received) -> bool {
        received.receipt.ends_with(&format!(" {}.{}", self.id, self.receives))
    }
}
