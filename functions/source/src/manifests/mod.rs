//! Taking a set of manifests over: load, read, compare, write, wake, advance.

mod declared;
mod edges;
mod finish;
mod held;
mod known;
mod read;
mod renamed;
mod sources;
mod stacks;
mod teams;
mod values;
mod vanish;

use std::collections::{BTreeMap, BTreeSet};

use yuba_core::id::{ManifestSetName, SourceName, StackId, StackName};
use yuba_core::manifest::{ManifestSet, read_set};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::Key;
use yuba_core::source::{FindingCounts, ManifestSetRecord, Source};
use yuba_core::time::Timestamp;
use yuba_ports::records::{Versioned, load, update};
use yuba_ports::{Committed, PortError, Ports};

use crate::backoff::Trouble;
use crate::outcome;
use crate::report::Report;
use crate::settings::SourceSettings;
use read::Documents;

/// How many stacks are woken at once.
const BATCH: usize = 50;

/// Reads a place of manifests, once for all that caused it, and takes over what changed.
pub(crate) async fn take_over(
    ports: &Ports,
    settings: &SourceSettings,
    set: &ManifestSetName,
    causes: &[&Cause],
) -> Result<Report, PortError> {
    let record = load::<ManifestSetRecord>(ports.store.as_ref(), &Key::manifest_set(set)).await?;
    let record = record.unwrap_or_else(|| Versioned::new(unread(set)));
    let report = if !settings.manifests.contains(set) {
        finish::forget(ports, &record).await?
    } else if causes.iter().all(|cause| is_stale(&record, cause)) {
        Report::Nothing("it was looked at already".to_owned())
    } else {
        look(ports, settings, record, causes).await?
    };
    outcome::note(ports, causes, &format!("manifests {set}"), &report.to_string()).await?;
    Ok(report)
}

/// The record of a set that was never read.
pub(crate) fn unread(set: &ManifestSetName) -> ManifestSetRecord {
    ManifestSetRecord {
        name: set.clone(),
        snapshot: 0,
        taken: 0,
        digest: None,
        values: BTreeMap::new(),
        findings: Vec::new(),
        found: FindingCounts::default(),
        failure: None,
        due: None,
    }
}

fn is_stale(record: &ManifestSetRecord, cause: &Cause) -> bool {
    matches!(cause, Cause::Due { slot } if record.due.is_none_or(|due| due > *slot))
}

async fn look(
    ports: &Ports,
    settings: &SourceSettings,
    record: Versioned<ManifestSetRecord>,
    causes: &[&Cause],
) -> Result<Report, PortError> {
    let documents = match read::read(ports, settings, &record.name, causes).await? {
        Ok(documents) => documents,
        Err(trouble) => return finish::failed(ports, settings, &record, &trouble).await,
    };
    // A snapshot that began later and was cut may have written some of it: then documents that came back are no old news.
    let is_whole = record.taken == record.snapshot;
    if is_whole && record.digest.as_ref() == Some(&documents.digest) {
        return finish::unchanged(ports, settings, &record).await;
    }
    let mut set = read_set(&documents.files);
    set.leave_backends_to_plans();
    if set.is_held_back {
        let trouble = Trouble::for_people("a faulty Policy, Team or Freeze holds the whole set back");
        return finish::held_back(ports, settings, &record, (&set, &trouble)).await;
    }
    let taking = Taking::begin(ports, record, &documents, set).await?;
    Box::pin(taking.all(settings)).await
}

/// One snapshot that is being taken over.
struct Taking<'a> {
    ports: &'a Ports,
    record: Versioned<ManifestSetRecord>,
    documents: &'a Documents,
    set: ManifestSet,
    /// The names of its stacks.
    present: BTreeSet<StackName>,
    /// The number of this snapshot.
    snapshot: u64,
    now: Timestamp,
    /// What was found wrong that one set alone does not show, rendered.
    findings: Vec<String>,
    /// Sources whose stacks changed in what their closures depend on.
    sources: BTreeSet<SourceName>,
    /// Stacks still to be woken.
    stacks: Vec<(StackId, u64)>,
    woke: usize,
}

impl<'a> Taking<'a> {
    /// Gives the snapshot its number, before anything of it is written. Numbers are never given twice.
    async fn begin(
        ports: &'a Ports,
        mut record: Versioned<ManifestSetRecord>,
        documents: &'a Documents,
        set: ManifestSet,
    ) -> Result<Self, PortError> {
        record.snapshot += 1;
        if ports.store.commit(vec![record.put()?]).await? != Committed::Done {
            return Err(overtaken(&record.name));
        }
        let name = record.name.clone();
        let record = load::<ManifestSetRecord>(ports.store.as_ref(), &Key::manifest_set(&name))
            .await?
            .ok_or_else(|| overtaken(&name))?;
        let (snapshot, now) = (record.snapshot, ports.clock.now());
        let present = set.stacks.iter().map(|stack| stack.name.clone()).collect();
        let (findings, sources, stacks) = (Vec::new(), BTreeSet::new(), Vec::new());
        Ok(Self { ports, record, documents, set, present, snapshot, now, findings, sources, stacks, woke: 0 })
    }

    /// Whether the set says that a stack is gone.
    fn lacks(&self, name: &StackName) -> bool {
        !self.present.contains(name) && self.set.lacks(name)
    }

    async fn all(mut self, settings: &SourceSettings) -> Result<Report, PortError> {
        self.take_teams().await?;
        self.take_freezes().await?;
        let values = self.take_values().await?;
        self.take_providers().await?;
        self.take_alerts().await?;
        self.take_sources().await?;
        let known = known::Known::load(self.ports, &self.record.name).await?;
        self.take_stacks(settings, &known).await?;
        self.hold_stacks_back(&known).await?;
        self.let_stacks_vanish(&known).await?;
        self.wake_stacks().await?;
        self.let_sources_vanish().await?;
        self.wake_sources().await?;
        self.finish(settings, values).await
    }

    /// Notes that a stack is to be woken; wakes a batch when there are enough.
    async fn wake(&mut self, stack: StackId, snapshot: u64) -> Result<(), PortError> {
        self.stacks.push((stack, snapshot));
        if self.stacks.len() >= BATCH { self.wake_stacks().await } else { Ok(()) }
    }

    async fn wake_stacks(&mut self) -> Result<(), PortError> {
        let set = &self.record.name;
        let message = |(stack, snapshot): &(StackId, u64)| {
            Message::new(Wake::Stack(*stack), Cause::Definition { set: set.clone(), snapshot: *snapshot })
        };
        let messages: Vec<Message> = self.stacks.iter().map(message).collect();
        if !messages.is_empty() {
            self.woke += messages.len();
            self.ports.queue.send(messages).await?;
            self.stacks.clear();
        }
        Ok(())
    }

    /// Tells each source that definitions of its stacks changed, and wakes it.
    async fn wake_sources(&self) -> Result<(), PortError> {
        for name in &self.sources {
            let key = Key::source(name);
            let told = update::<Source, _>(self.ports.store.as_ref(), &key, |source| {
                source.definitions += 1;
                // The message may be dropped as one that came already: taking the source itself over sends the same.
                source.due = (!source.spec.suspend).then_some(self.now);
                true
            });
            if told.await?.is_some_and(|source| source.vanished.is_none()) {
                let cause = Cause::Definition { set: self.record.name.clone(), snapshot: self.snapshot };
                self.ports.queue.send(vec![Message::new(Wake::Source(name.clone()), cause)]).await?;
            }
        }
        Ok(())
    }
}

/// Somebody else takes the set over at this moment: the message comes again.
fn overtaken(set: &ManifestSetName) -> PortError {
    PortError::transient(format!("another snapshot of {set} is being taken over"))
}
