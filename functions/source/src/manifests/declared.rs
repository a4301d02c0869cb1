//! Takes over the documents that are stored as they say, one by one, only upwards by snapshot; what is gone vanishes.

use std::collections::BTreeSet;

use yuba_core::declared::{Binding, Declared, DeclaredSpec};
use yuba_core::freeze::FreezeSpec;
use yuba_core::id::ObjectName;
use yuba_core::manifest::DeclaredManifest;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::notify::{AlertSpec, ProviderSpec};
use yuba_ports::records::{Versioned, load, page};
use yuba_ports::{Committed, Order, PortError, Query};

use super::{Taking, overtaken};

/// How many documents are read at once.
const PAGE: usize = 100;

impl Taking<'_> {
    /// Takes the providers over. One that says something else is woken: what stood in the way may be mended.
    pub(super) async fn take_providers(&mut self) -> Result<(), PortError> {
        let changed = self.take::<ProviderSpec>(self.set.providers.clone()).await?;
        let cause = Cause::Definition { set: self.record.name.clone(), snapshot: self.snapshot };
        let wake = |name| Message::new(Wake::Provider(name), cause.clone());
        let messages: Vec<Message> = changed.into_iter().map(wake).collect();
        if messages.is_empty() { Ok(()) } else { self.ports.queue.send(messages).await }
    }

    /// Takes the freezes over.
    pub(super) async fn take_freezes(&mut self) -> Result<(), PortError> {
        self.take::<FreezeSpec>(self.set.freezes.clone()).await.map(drop)
    }

    /// Takes the alerts over.
    pub(super) async fn take_alerts(&mut self) -> Result<(), PortError> {
        self.take::<AlertSpec>(self.set.alerts.clone()).await.map(drop)
    }

    /// Takes all documents of a kind over; which of them say something else than before.
    async fn take<S: DeclaredSpec>(
        &mut self,
        manifests: Vec<DeclaredManifest<S>>,
    ) -> Result<Vec<ObjectName>, PortError> {
        let present: BTreeSet<ObjectName> = manifests.iter().map(|manifest| manifest.name.clone()).collect();
        let mut changed = Vec::new();
        for manifest in manifests {
            let name = manifest.name.clone();
            if self.take_one(manifest).await? {
                changed.push(name);
            }
        }
        self.let_vanish::<S>(&present).await?;
        Ok(changed)
    }

    /// Takes one over; whether it says something else than before.
    async fn take_one<S: DeclaredSpec>(&mut self, manifest: DeclaredManifest<S>) -> Result<bool, PortError> {
        let key = Declared::<S>::key_of(&manifest.name);
        let before = load::<Declared<S>>(self.ports.store.as_ref(), &key).await?;
        let declared = Declared {
            place: format!("{}:{}", manifest.place.file, manifest.place.line),
            name: manifest.name,
            spec: manifest.spec,
            set: self.record.name.clone(),
            snapshot: self.snapshot,
            vanished: None,
        };
        let Some(before) = before else { return self.write(Versioned::new(declared)).await.map(|()| true) };
        if before.set != declared.set && before.vanished.is_none() {
            let (place, name) = (manifest.place, &declared.name);
            self.findings.push(format!(
                "{place}: error: {} {name} is defined in {} already; it is held back here",
                S::KIND,
                before.set
            ));
            return Ok(false);
        }
        let is_newer = before.set == declared.set && before.snapshot > self.snapshot;
        let is_same = *before == Declared { snapshot: before.snapshot, ..declared.clone() };
        if is_newer || is_same {
            return Ok(false);
        }
        let changed = before.spec != declared.spec || before.vanished.is_some();
        self.write(before.with(declared)).await?;
        Ok(changed)
    }

    /// Marks those that the set says are gone.
    async fn let_vanish<S: DeclaredSpec>(&self, present: &BTreeSet<ObjectName>) -> Result<(), PortError> {
        let mut after = None;
        loop {
            let (partition, prefix) = (S::PARTITION.to_owned(), String::new());
            let query = Query::Partition { partition, prefix, order: Order::Ascending, after, limit: PAGE };
            let (known, next) = page::<Declared<S>>(self.ports.store.as_ref(), query).await?;
            for mut gone in known.into_iter().filter(|known| self.says_is_gone(known, present)) {
                gone.vanished = Some(self.now);
                gone.snapshot = self.snapshot;
                self.write(gone).await?;
            }
            match next {
                None => return Ok(()),
                next => after = next,
            }
        }
    }

    fn says_is_gone<S: DeclaredSpec>(&self, known: &Declared<S>, present: &BTreeSet<ObjectName>) -> bool {
        let name = known.name.to_string();
        let held = |held: &yuba_core::manifest::HeldBack| {
            held.name.as_ref().is_none_or(|held_name| held.kind == S::KIND && *held_name == name)
        };
        known.set == self.record.name
            && known.vanished.is_none()
            && known.snapshot <= self.snapshot
            && !present.contains(&known.name)
            && !self.set.held_back.iter().any(held)
    }

    async fn write<S: DeclaredSpec>(&self, declared: Versioned<Declared<S>>) -> Result<(), PortError> {
        let mut writes = vec![declared.put()?];
        if S::BINDING == Binding::AtOnce {
            writes.push(self.counted_change().await?);
        }
        match self.ports.store.commit(writes).await? {
            Committed::Done => Ok(()),
            Committed::Conflict(_) => Err(overtaken(&self.record.name)),
        }
    }
}
