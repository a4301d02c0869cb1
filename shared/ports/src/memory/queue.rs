//! Messages in memory: first in, first out within a group, with one receiver of a group at a time, hidden by the world's
//! clock.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use yuba_core::message::Message;
use yuba_core::time::{Span, Timestamp};

use super::{MemoryClock, lock};
use crate::{Clock, DeadLetter, PortError, Queue, QueueName, Received};

/// How long a deduplication id is remembered, as SQS does.
const REMEMBERED: Span = Span::minutes(5);

/// Messages in memory. [`Queue::receive`] never waits: the world's clock moves by the test alone.
#[derive(Debug)]
pub struct MemoryQueue {
    clock: Arc<MemoryClock>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By the order in which they were sent.
    messages: BTreeMap<u64, Entry>,
    dead: BTreeMap<u64, Dead>,
    sent: HashMap<String, Timestamp>,
    next: u64,
}

#[derive(Debug)]
struct Entry {
    message: Message,
    visible_at: Timestamp,
    receives: u32,
}

#[derive(Debug)]
struct Dead {
    message: Message,
    since: Timestamp,
    why: String,
}

impl MemoryQueue {
    /// How long a received message is hidden.
    pub const VISIBILITY: Span = Span::seconds(60);

    /// An empty queue by a clock.
    pub fn new(clock: Arc<MemoryClock>) -> Self {
        Self { clock, state: Mutex::default() }
    }

    /// All messages that were not acknowledged, in the order they were sent.
    pub fn pending(&self) -> Vec<Message> {
        lock(&self.state).messages.values().map(|entry| entry.message.clone()).collect()
    }
}

#[async_trait]
impl Queue for MemoryQueue {
    async fn send(&self, messages: Vec<Message>) -> Result<(), PortError> {
        let now = self.clock.now();
        let mut state = lock(&self.state);
        state.sent.retain(|_, at| now.since(*at) < REMEMBERED);
        for message in messages {
            state.add(message, now);
        }
        Ok(())
    }

    async fn receive(&self, queue: QueueName, most: usize, _wait: Span) -> Result<Vec<Received>, PortError> {
        let now = self.clock.now();
        Ok(lock(&self.state).take(queue, most, now))
    }

    async fn ack(&self, received: &Received) -> Result<(), PortError> {
        let mut state = lock(&self.state);
        if let Some(id) = state.held(&received.receipt) {
            state.messages.remove(&id);
        }
        Ok(())
    }

    async fn release(&self, received: &Received, after: Span) -> Result<(), PortError> {
        let now = self.clock.now();
        let mut state = lock(&self.state);
        let held = state.held(&received.receipt);
        if let Some(entry) = held.and_then(|id| state.messages.get_mut(&id)) {
            entry.visible_at = now + after;
        }
        Ok(())
    }

    async fn set_aside(&self, received: &Received, why: &str) -> Result<(), PortError> {
        let now = self.clock.now();
        let mut state = lock(&self.state);
        let held = state.held(&received.receipt);
        if let Some((id, entry)) = held.and_then(|id| state.messages.remove_entry(&id)) {
            state.dead.insert(id, Dead { message: entry.message, since: now, why: why.to_owned() });
        }
        Ok(())
    }

    async fn dead_letters(&self, queue: QueueName, most: usize) -> Result<Vec<DeadLetter>, PortError> {
        let state = lock(&self.state);
        let its = state.dead.iter().filter(|(_, dead)| QueueName::of(&dead.message) == queue);
        its.take(most).map(|(id, dead)| dead.letter(*id)).collect()
    }

    async fn redrive(&self, queue: QueueName, most: usize) -> Result<usize, PortError> {
        let now = self.clock.now();
        let mut state = lock(&self.state);
        let its = state.dead.iter().filter(|(_, dead)| QueueName::of(&dead.message) == queue);
        let ids: Vec<u64> = its.take(most).map(|(id, _)| *id).collect();
        for dead in ids.iter().filter_map(|id| state.dead.remove(id)).collect::<Vec<_>>() {
            state.push(dead.message, now);
        }
        Ok(ids.len())
    }
}

impl State {
    fn add(&mut self, message: Message, now: Timestamp) {
        let id = message.deduplication_id();
        if self.sent.contains_key(&id) {
            return;
        }
        self.sent.insert(id, now);
        self.push(message, now);
    }

    fn push(&mut self, message: Message, now: Timestamp) {
        self.next += 1;
        self.messages.insert(self.next, Entry { message, visible_at: now, receives: 0 });
    }

    /// The first messages of the first group of which none is hidden.
    fn take(&mut self, queue: QueueName, most: usize, now: Timestamp) -> Vec<Received> {
        let hidden = self.messages.values().filter(|entry| entry.visible_at > now);
        let hidden: HashSet<String> = hidden.map(|entry| entry.message.group()).collect();
        let is_there = |entry: &Entry| {
            QueueName::of(&entry.message) == queue && !hidden.contains(&entry.message.group())
        };
        let Some(group) =
            self.messages.values().find(|entry| is_there(entry)).map(|entry| entry.message.group())
        else {
            return Vec::new();
        };
        let its = self.messages.iter_mut().filter(|(_, entry)| entry.message.group() == group);
        its.take(most).map(|(id, entry)| entry.receive(*id, now)).collect()
    }

    /// The message that a receipt names, if it is the newest receipt of it.
    fn held(&self, receipt: &str) -> Option<u64> {
        let (id, receives) = receipt.split_once('.')?;
        let id = id.parse().ok()?;
        let newest = self.messages.get(&id)?.receives;
        (newest.to_string() == receives).then_some(id)
    }
}

impl Dead {
    fn letter(&self, id: u64) -> Result<DeadLetter, PortError> {
        let body = serde_json::to_string(&self.message)
            .map_err(|error| PortError::permanent("a dead letter could not be written").because(error))?;
        let (since, why) = (self.since, Some(self.why.clone()));
        Ok(DeadLetter { id: id.to_string(), group: self.message.group(), body, since, why })
    }
}

impl Entry {
    fn receive(&mut self, id: u64, now: Timestamp) -> Received {
        self.visible_at = now + MemoryQueue::VISIBILITY;
        self.receives += 1;
        let receipt = format!("{id}.{}", self.receives);
        Received { message: self.message.clone(), receipt, receives: self.receives }
    }
}
