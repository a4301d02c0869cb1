//! The queue as SQS FIFO has it: groups in order, with one receiver of a group at a time, at least once.

use std::collections::{BTreeMap, VecDeque};

use yuba_core::message::Message;
use yuba_core::time::{Span, Timestamp};
use yuba_ports::Received;

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

    /// The groups whose next message can be received now: none of which is out.
    pub(crate) fn ready(&self, now: Timestamp) -> Vec<&str> {
        let is_ready = |line: &VecDeque<Entry>| ready_at(line).is_some_and(|at| at <= now);
        self.groups.iter().filter(|(_, line)| is_ready(line)).map(|(group, _)| group.as_str()).collect()
    }

    /// When the next message that is hidden now can be received.
    pub(crate) fn next_visible(&self, now: Timestamp) -> Option<Timestamp> {
        self.groups.values().filter_map(ready_at).filter(|at| *at > now).min()
    }

    /// Receives the first messages of a group that is ready, at most `most`.
    pub(crate) fn take(&mut self, group: &str, most: usize, now: Timestamp) -> Vec<Received> {
        let line = self.groups.get_mut(group).into_iter().flatten();
        let there = line.take(most).take_while(|entry| entry.visible_at <= now);
        there.map(|entry| entry.receive(now)).collect()
    }

    /// Drops a message that was handled; an old receipt does nothing.
    pub(crate) fn ack(&mut self, received: &Received) {
        let group = received.message.group();
        let Some(line) = self.groups.get_mut(&group) else { return };
        line.retain(|entry| !entry.is(received));
        if line.is_empty() {
            self.groups.remove(&group);
        }
    }

    /// Drops every message of a group, as no queue does.
    pub(crate) fn drop_all(&mut self, group: &str) {
        self.groups.remove(group);
    }

    /// Lets a message come again after a while; an old receipt does nothing.
    pub(crate) fn release(&mut self, received: &Received, visible_at: Timestamp) {
        let line = self.groups.get_mut(&received.message.group()).into_iter().flatten();
        for entry in line.filter(|entry| entry.is(received)) {
            entry.visible_at = visible_at;
        }
    }

    /// How many messages there are.
    pub(crate) fn len(&self) -> usize {
        self.groups.values().map(VecDeque::len).sum()
    }
}

/// When the first message of a group can be received: once it has arrived, and none is out.
fn ready_at(line: &VecDeque<Entry>) -> Option<Timestamp> {
    let first = line.front()?.visible_at;
    let came = line.iter().filter(|entry| entry.receives > 0).map(|entry| entry.visible_at);
    Some(came.fold(first, Timestamp::max))
}

impl Entry {
    fn receive(&mut self, now: Timestamp) -> Received {
        self.visible_at = now + VISIBILITY;
        self.receives += 1;
        let message = self.message.clone();
        let receipt = format!("{} {}.{}", message.group(), self.id, self.receives);
        Received { message, receipt, receives: self.receives }
    }

    fn is(&self, received: &Received) -> bool {
        received.receipt.ends_with(&format!(" {}.{}", self.id, self.receives))
    }
}
