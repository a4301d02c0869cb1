//! Records in ordered maps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use async_trait::async_trait;
use yuba_core::record::{Index, Key};

use super::lock;
use crate::{Committed, Cursor, Item, Order, Page, PortError, Query, Store, Write};

/// Records in memory.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    records: BTreeMap<Key, Item>,
    entries: BTreeSet<(Index, String, Key)>,
}

impl MemoryStore {
    /// Every record, in the order of the keys.
    pub fn items(&self) -> Vec<Item> {
        lock(&self.0).records.values().cloned().collect()
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn get(&self, key: &Key) -> Result<Option<Item>, PortError> {
        Ok(lock(&self.0).records.get(key).cloned())
    }

    async fn commit(&self, writes: Vec<Write>) -> Result<Committed, PortError> {
        Write::check_all(&writes)?;
        let mut state = lock(&self.0);
        let version = |key: &Key| state.records.get(key).map(|item| item.version);
        if let Some(lost) = writes.iter().find(|write| !write.expected().is_met_by(version(write.key()))) {
            return Ok(Committed::Conflict(lost.key().clone()));
        }
        for write in writes {
            state.write(write);
        }
        Ok(Committed::Done)
    }

    async fn query(&self, query: Query) -> Result<Page, PortError> {
        lock(&self.0).query(query)
    }
}

impl State {
    fn write(&mut self, write: Write) {
        match write {
            Write::Put { key, body, indexes, .. } => {
                let version = self.remove(&key).map_or(0, |item| item.version) + 1;
                for entry in &indexes {
                    self.entries.insert((entry.index, entry.value.clone(), key.clone()));
                }
                self.records.insert(key.clone(), Item { key, version, body, indexes });
            }
            Write::Delete { key, .. } => {
                self.remove(&key);
            }
            Write::Check { .. } => {}
        }
    }

    fn remove(&mut self, key: &Key) -> Option<Item> {
        let item = self.records.remove(key)?;
        for entry in &item.indexes {
            self.entries.remove(&(entry.index, entry.value.clone(), key.clone()));
        }
        Some(item)
    }

    fn query(&self, query: Query) -> Result<Page, PortError> {
        match query {
            Query::Partition { partition, prefix, order, after, limit } => {
                let keys = self
                    .records
                    .keys()
                    .filter(|key| key.partition == partition && key.sort.starts_with(&prefix))
                    .map(|key| (String::new(), key.clone()));
                self.page(keys.collect(), order, after.as_ref(), limit)
            }
            Query::Index { index, prefix, up_to, order, after, limit } => {
                let places = self
                    .entries
                    .iter()
                    .filter(|(of, value, _)| *of == index && value.starts_with(&prefix))
                    .filter(|(_, value, _)| up_to.as_ref().is_none_or(|most| value <= most))
                    .map(|(_, value, key)| (value.clone(), key.clone()));
                self.page(places.collect(), order, after.as_ref(), limit)
            }
        }
    }

    /// One page of places that come in ascending order; a place is an index value (empty in a partition) and a key.
    fn page(
        &self,
        mut places: Vec<(String, Key)>,
        order: Order,
        after: Option<&Cursor>,
        limit: usize,
    ) -> Result<Page, PortError> {
        if order == Order::Descending {
            places.reverse();
        }
        if let Some(after) = after {
            let [value, partition, sort] = after.parts()?;
            let last = (value, Key { partition, sort });
            places.retain(|place| if order == Order::Ascending { *place > last } else { *place < last });
        }
        let more = places.len() > limit.max(1);
        places.truncate(limit.max(1));
        let next = places.last().filter(|_| more);
        let next = next.map(|(value, key)| Cursor::of([value, &key.partition, &key.sort]));
        let items = places.iter().filter_map(|(_, key)| self.records.get(key).cloned()).collect();
        Ok(Page { items, next })
    }
}
