//! The edges of a stack: whom it waits for, what it reads, where its code and its state lie.

use std::collections::BTreeSet;
use std::mem;

use yuba_core::id::{StackId, StackName};
use yuba_core::record::{Edge, Key};
use yuba_core::source::{Definition, Observation};
use yuba_core::spec::StackSpec;
use yuba_core::state_address::known_address;
use yuba_ports::records::put_any;
use yuba_ports::{Committed, Expected, MOST_WRITES, PortError, Ports, Write};

use crate::states;

/// What a stack's new settings change of its edges.
pub(super) struct Change {
    added: Vec<Write>,
    removed: Vec<Write>,
}

impl Change {
    /// From what was taken over of the stack before to its new settings; none where it vanished.
    pub(super) fn new(
        before: Option<&Definition>,
        (id, name): (StackId, &StackName),
        spec: Option<&StackSpec>,
        seen: Option<&Observation>,
    ) -> Result<Self, PortError> {
        let old = before.map(|before| keys(id, &before.spec, seen)).unwrap_or_default();
        let new = spec.map(|spec| keys(id, spec, seen)).unwrap_or_default();
        let all = before.is_none_or(|before| before.vanished.is_some() || before.name != *name);
        let added = new.iter().filter(|at| all || !old.contains(*at));
        let edge = |at: &Key| put_any(&Edge { at: at.clone(), stack: id, name: name.clone() });
        let removed = old.difference(&new);
        Ok(Self {
            added: added.map(edge).collect::<Result<_, _>>()?,
            removed: removed.map(|at| Write::Delete { key: at.clone(), expected: Expected::Any }).collect(),
        })
    }

    /// Commits the settings with the edges that they need. What does not fit in beside them comes before where it is added,
    /// and after where it is removed: whatever is cut, a stack has all edges that its settings need.
    pub(super) async fn commit(
        mut self,
        ports: &Ports,
        mut settings: Vec<Write>,
    ) -> Result<Committed, PortError> {
        let room = MOST_WRITES - settings.len();
        while self.added.len() > room {
            let rest = self.added.split_off(room);
            ports.store.commit(mem::replace(&mut self.added, rest)).await?;
        }
        let beside = (room - self.added.len()).min(self.removed.len());
        settings.append(&mut self.added);
        settings.extend(self.removed.drain(..beside));
        if let Committed::Conflict(key) = ports.store.commit(settings).await? {
            return Ok(Committed::Conflict(key));
        }
        for batch in self.removed.chunks(MOST_WRITES) {
            ports.store.commit(batch.to_vec()).await?;
        }
        Ok(Committed::Done)
    }
}

fn keys(stack: StackId, spec: &StackSpec, seen: Option<&Observation>) -> BTreeSet<Key> {
    let waits = spec.depends_on.iter().map(|dependency| Key::dependant(dependency, stack));
    let values = spec.vars_from.iter().map(|values| &values.name);
    let reads = values.chain(spec.hosts.iter().map(|host| &host.secret)).map(|name| Key::reader(name, stack));
    let state = states::edge(&known_address(spec, seen), stack);
    waits.chain(reads).chain([Key::source_stack(&spec.source, stack)]).chain(state).collect()
}
