//! `Store` and `Blobs` of the world. Records are those of [`MemoryStore`]; index queries read a second one, to which
//! writes come late where indexes lag.

use std::path::Path;

use async_trait::async_trait;
use yuba_core::job::object;
use yuba_core::record::Key;
use yuba_core::time::Span;
use yuba_ports::{
    Blobs, Committed, Expected, Item, Page, PortError, PutMode, PutOutcome, Query, Store, Write,
};

use super::cloud::PlanFile;
use super::gate::gate;
use super::{Call, KnownDue, State, World};
use crate::faults::Fault;
use crate::history::{Mark, Sign};
use crate::lane::Lane;

#[async_trait]
impl Store for World {
    async fn get(&self, key: &Key) -> Result<Option<Item>, PortError> {
        let item = self.call(Lane::Store, || format!("reads {key}"), self.shared.records.get(key)).await?;
        Ok(self.state().altered(key, item))
    }

    async fn commit(&self, writes: Vec<Write>) -> Result<Committed, PortError> {
        self.state().start_early(&writes);
        gate().await;
        // Only who expects something can lose a race. Who expects no record loses it to one that is there then.
        let conditional = writes.iter().find(|write| matches!(write.expected(), Expected::Version(_)));
        let call = if conditional.is_some() { Call::Commit } else { Call::Any };
        let fault = self.state().fault(Lane::Store, call, || format!("commits {}", names(&writes)));
        if let (Some(Fault::Conflict), Some(lost)) = (fault, conditional) {
            return Ok(Committed::Conflict(lost.key().clone()));
        }
        self.with_fault(fault, self.write(writes)).await
    }

    async fn query(&self, query: Query) -> Result<Page, PortError> {
        self.catch_up().await?;
        match &query {
            Query::Partition { partition, .. } => {
                let what = format!("lists {partition}");
                let page = self.call(Lane::Store, || what, self.shared.records.query(query)).await?;
                Ok(self.state().altered_page(page))
            }
            Query::Index { index, .. } => {
                let what = format!("lists index {}", index.as_str());
                self.call(Lane::Store, || what, self.shared.index.query(query)).await
            }
        }
    }
}

fn names(writes: &[Write]) -> String {
    writes.iter().map(|write| write.key().to_string()).collect::<Vec<_>>().join(", ")
}

impl World {
    /// Commits, and lets the oracle see what was written.
    async fn write(&self, writes: Vec<Write>) -> Result<Committed, PortError> {
        let writes = self.state().mutated(writes);
        let writes = self.state().by_another_version(writes);
        let committed = self.shared.records.commit(writes.clone()).await?;
        if committed == Committed::Done {
            self.state().wrote_and_indexes(writes);
            self.catch_up().await?;
        } else {
            self.state().note_as(Sign::from(Lane::Store), || "the race is lost".to_owned());
        }
        Ok(committed)
    }

    /// Brings the index up to where it should be by now. A late write holds up the ones behind it.
    async fn catch_up(&self) -> Result<(), PortError> {
        loop {
            let writes = self.state().late_writes();
            match writes {
                Some(writes) => self.shared.index.commit(writes).await?,
                None => return Ok(()),
            };
        }
    }

    /// The index as it stands, for the world's own clock.
    pub(crate) async fn index(&self, query: Query) -> Result<Page, PortError> {
        self.catch_up().await?;
        self.shared.index.query(query).await
    }

    /// A record as it stands, for people and oracles.
    pub(crate) async fn record(&self, key: &Key) -> Option<Item> {
        self.shared.records.get(key).await.ok().flatten()
    }

    /// Every record.
    pub(crate) fn records(&self) -> Vec<Item> {
        self.shared.records.items()
    }
}

impl State {
    fn wrote_and_indexes(&mut self, writes: Vec<Write>) {
        self.wrote(&writes);
        let rate = self.rates.lag;
        let lag = if self.goes_wrong(rate) { self.chance.between(100, 20_000) } else { 0 };
        let at = self.now + Span(lag);
        self.lagging.push_back((at, writes.into_iter().map(whatever_is_there).collect()));
    }

    /// The bytes that will really lie there: somebody may exchange a plan for another.
    fn tampered(&mut self, key: &str, bytes: &[u8]) -> Vec<u8> {
        let rate = self.rates.tamper;
        let plan = serde_json::from_slice::<PlanFile>(bytes).ok().filter(|_| key.ends_with(object::PLAN));
        let Some(mut plan) = plan.filter(|_| self.goes_wrong(rate)) else { return bytes.to_vec() };
        self.note_as(Sign::to(Lane::Blobs).marked(Mark::Fault), || {
            format!("{key} is exchanged for another plan")
        });
        plan.changes.truncate(1);
        plan.nonce = 0;
        plan.bytes()
    }

    /// A function of the next version adds a field to what it writes; one of the version before writes its schema.
    fn by_another_version(&mut self, mut writes: Vec<Write>) -> Vec<Write> {
        let rate = self.rates.versions;
        if !self.goes_wrong(rate) {
            return writes;
        }
        let number = self.number();
        let is_newer = number.is_multiple_of(2);
        let bodies = writes.iter_mut().filter_map(|write| match write {
            Write::Put { body, key, .. } if keeps_unknown(key) => body.as_object_mut(),
            _ => None,
        });
        for body in bodies {
            let (field, value) = if is_newer { (NEWER, number) } else { ("schema", 0) };
            body.insert(field.to_owned(), value.into());
        }
        writes
    }

    /// Writes that the index lacks and that should have reached it by now.
    fn late_writes(&mut self) -> Option<Vec<Write>> {
        let now = self.now;
        self.lagging.front().filter(|(at, _)| *at <= now)?;
        self.first_due = KnownDue::Unread;
        self.lagging.pop_front().map(|(_, writes)| writes)
    }
}

/// A field that the next version writes.
pub(crate) const NEWER: &str = "field of the next version";

/// Whether whoever writes the record must keep what it does not know.
pub(crate) fn keeps_unknown(key: &Key) -> bool {
    let kind = key.sort.split('#').next().unwrap_or_default();
    let partition = key.partition.split('#').next().unwrap_or_default();
    match partition {
        "stack" => matches!(kind, "stack" | "run" | "definition" | "observation"),
        "attempt" | "source" | "manifests" => matches!(key.sort.as_str(), "attempt" | "source" | "set"),
        _ => false,
    }
}

fn whatever_is_there(write: Write) -> Write {
    match write {
        Write::Put { key, body, indexes, .. } => Write::Put { key, body, indexes, expected: Expected::Any },
        Write::Delete { key, .. } => Write::Delete { key, expected: Expected::Any },
        Write::Check { key, .. } => Write::Check { key, expected: Expected::Any },
    }
}

#[async_trait]
impl Blobs for World {
    async fn put(&self, key: &str, bytes: &[u8], mode: PutMode) -> Result<PutOutcome, PortError> {
        let bytes = self.state().tampered(key, bytes);
        self.call(Lane::Blobs, || format!("stores {key}"), self.shared.blobs.put(key, &bytes, mode)).await
    }

    async fn put_file(&self, key: &str, _file: &Path, _mode: PutMode) -> Result<PutOutcome, PortError> {
        Err(PortError::permanent(format!("{key}: there are no files in a simulated world")))
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, PortError> {
        self.call(Lane::Blobs, || format!("fetches {key}"), self.shared.blobs.get(key)).await
    }

    async fn get_file(&self, key: &str, _file: &Path) -> Result<bool, PortError> {
        Err(PortError::permanent(format!("{key}: there are no files in a simulated world")))
    }

    async fn exists(&self, key: &str) -> Result<bool, PortError> {
        self.call(Lane::Blobs, || format!("looks for {key}"), self.shared.blobs.exists(key)).await
    }

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError> {
        self.call(Lane::Blobs, || format!("lists {prefix}"), self.shared.blobs.list(prefix, after, limit))
            .await
    }

    async fn delete(&self, key: &str) -> Result<(), PortError> {
        self.call(Lane::Blobs, || format!("deletes {key}"), self.shared.blobs.delete(key)).await
    }
}
