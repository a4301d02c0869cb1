//! Takes the sources of a set over: settings are replaced, what was observed stays.

use yuba_core::manifest::SourceManifest;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::Key;
use yuba_core::source::Source;
use yuba_ports::records::{Versioned, load};
use yuba_ports::{Committed, PortError};

use super::Taking;

impl Taking<'_> {
    pub(super) async fn take_sources(&mut self) -> Result<(), PortError> {
        for manifest in self.set.sources.clone() {
            self.take_source(manifest).await?;
        }
        Ok(())
    }

    async fn take_source(&mut self, manifest: SourceManifest) -> Result<(), PortError> {
        let before = load::<Source>(self.ports.store.as_ref(), &Key::source(&manifest.name)).await?;
        let source = match before {
            None => Versioned::new(self.new_source(manifest)),
            Some(before) if before.set != self.record.name && before.vanished.is_none() => {
                self.findings.push(format!(
                    "{}: error: source {} is defined in {} already; it is held back here",
                    manifest.place, manifest.name, before.set
                ));
                return Ok(());
            }
            Some(before)
                if before.spec == manifest.spec
                    && before.vanished.is_none()
                    && before.set == self.record.name =>
            {
                return Ok(());
            }
            Some(before) => self.changed_source(before, manifest),
        };
        if self.ports.store.commit(vec![source.put()?]).await? != Committed::Done {
            return Err(PortError::transient(format!("source {} was written meanwhile", source.name)));
        }
        if source.spec.suspend {
            return Ok(());
        }
        // A cut before this message does no harm: the record is due.
        let cause = Cause::Definition { set: self.record.name.clone(), snapshot: self.snapshot };
        self.ports.queue.send(vec![Message::new(Wake::Source(source.name.clone()), cause)]).await
    }

    fn new_source(&self, manifest: SourceManifest) -> Source {
        Source {
            due: (!manifest.spec.suspend).then_some(self.now),
            name: manifest.name,
            spec: manifest.spec,
            set: self.record.name.clone(),
            observation: 0,
            seen: None,
            definitions: 0,
            definitions_seen: 0,
            failure: None,
            vanished: None,
        }
    }

    fn changed_source(&self, before: Versioned<Source>, manifest: SourceManifest) -> Versioned<Source> {
        let mut source = before;
        source.due = (!manifest.spec.suspend).then_some(self.now);
        source.spec = manifest.spec;
        source.set = self.record.name.clone();
        source.vanished = None;
        source.failure = None;
        source.definitions += 1;
        source
    }
}
