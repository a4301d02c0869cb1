//! What is gone from a set: stacks are kept and reported, sources are not polled any more.

use yuba_core::record::Index;
use yuba_core::record::Key;
use yuba_core::source::{Definition, Source};
use yuba_ports::records::{Versioned, load, page};
use yuba_ports::{Committed, Expected, Order, PortError, Query, Write};

use super::known::Known;
use super::{Taking, edges, overtaken};

/// How many sources are read at once.
const PAGE: usize = 100;

impl Taking<'_> {
    /// Marks the stacks that the set says are gone.
    pub(super) async fn let_stacks_vanish(&mut self, known: &Known) -> Result<(), PortError> {
        for name in known.definitions.keys() {
            if !self.lacks(name) {
                continue;
            }
            let Some(known) = known.definitions.get(name) else { continue };
            // It may have got a new name just now, or belong to another set.
            let key = Key::definition(known.stack);
            let Some(definition) = load::<Definition>(self.ports.store.as_ref(), &key).await? else {
                continue;
            };
            if definition.name == *name {
                self.let_stack_vanish(definition).await?;
            }
        }
        Ok(())
    }

    async fn let_stack_vanish(&mut self, mut definition: Versioned<Definition>) -> Result<(), PortError> {
        let id = definition.stack;
        if definition.set != self.record.name {
            let key = Key::set_stack(&self.record.name, id);
            self.ports.store.commit(vec![Write::Delete { key, expected: Expected::Any }]).await?;
            return Ok(());
        }
        if definition.vanished.is_some() {
            if definition.snapshot > self.record.taken {
                self.sources.insert(definition.spec.source.clone());
                self.wake_sharers(None, &definition).await?;
                self.wake(id, definition.snapshot).await?;
            }
            return Ok(());
        }
        let seen = self.seen(id).await?;
        let edges = edges::Change::new(Some(&*definition), (id, &definition.name), None, seen.as_ref())?;
        self.sources.insert(definition.spec.source.clone());
        definition.vanished = Some(self.now);
        definition.held_back = None;
        definition.snapshot = self.snapshot;
        if edges.commit(self.ports, vec![definition.put()?]).await? != Committed::Done {
            return Err(overtaken(&self.record.name));
        }
        self.wake_sharers(None, &definition).await?;
        self.wake(id, self.snapshot).await
    }

    /// Marks the sources that the set says are gone.
    pub(super) async fn let_sources_vanish(&self) -> Result<(), PortError> {
        let mut after = None;
        loop {
            let (index, prefix, order) = (Index::Sources, String::new(), Order::Ascending);
            let query = Query::Index { index, prefix, up_to: None, order, after, limit: PAGE };
            let (sources, next) = page::<Source>(self.ports.store.as_ref(), query).await?;
            for source in sources.into_iter().filter(|source| self.lacks_source(source)) {
                self.let_source_vanish(source).await?;
            }
            match next {
                None => return Ok(()),
                next => after = next,
            }
        }
    }

    fn lacks_source(&self, source: &Source) -> bool {
        let name = source.name.to_string();
        let mut held = self.set.held_back.iter();
        source.set == self.record.name
            && self.set.sources.iter().all(|manifest| manifest.name != source.name)
            && !held.any(|held| held.name.as_ref().is_none_or(|held| *held == name))
    }

    async fn let_source_vanish(&self, mut source: Versioned<Source>) -> Result<(), PortError> {
        source.vanished = Some(self.now);
        source.due = None;
        if self.ports.store.commit(vec![source.put()?]).await? == Committed::Done {
            return Ok(());
        }
        Err(PortError::transient(format!("source {} was written meanwhile", source.name)))
    }
}
