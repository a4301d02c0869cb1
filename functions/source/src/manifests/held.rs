//! What is held back: each stack whose document is faulty keeps its last good settings, and is told why.

use yuba_core::source::Definition;
use yuba_ports::records::Versioned;
use yuba_ports::{Committed, PortError};

use super::known::Known;
use super::{Taking, overtaken};

impl Taking<'_> {
    /// Tells the stacks that are held back what is wrong. They are woken even if they were told already: a cut may have
    /// come between the two.
    pub(super) async fn hold_stacks_back(&mut self, known: &Known) -> Result<(), PortError> {
        for definition in known.definitions.values() {
            if definition.set != self.record.name || definition.vanished.is_some() {
                continue;
            }
            let file = definition.place.rsplit_once(':').map_or(definition.place.as_str(), |(file, _)| file);
            if let Some(why) = self.set.why_held_back(&definition.name, file) {
                self.hold_stack_back(definition.clone(), why).await?;
            }
        }
        Ok(())
    }

    async fn hold_stack_back(
        &mut self,
        mut definition: Versioned<Definition>,
        why: String,
    ) -> Result<(), PortError> {
        let id = definition.stack;
        if definition.held_back.as_ref() != Some(&why) {
            definition.held_back = Some(why);
            if self.ports.store.commit(vec![definition.put()?]).await? != Committed::Done {
                return Err(overtaken(&self.record.name));
            }
        }
        self.wake(id, self.snapshot).await
    }
}
