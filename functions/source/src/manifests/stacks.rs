//! Takes the stacks of a set over, one by one, only upwards by snapshot.

use std::collections::BTreeSet;

use yuba_core::id::{StackId, StackName};
use yuba_core::manifest::StackManifest;
use yuba_core::record::{Edge, Key, StackAlias};
use yuba_core::source::{Definition, Observation};
use yuba_core::spec::{ApprovePlan, StackSpec};
use yuba_core::state_address::{StateAddress, known_address};
use yuba_ports::records::{Versioned, load, put_any};
use yuba_ports::{Committed, Expected, PortError, Write};

use super::known::Known;
use super::read::Author;
use super::renamed::{Movable, Origin};
use super::{Taking, edges};
use crate::settings::SourceSettings;
use crate::states;

/// Which stack a manifest means.
struct Meant {
    id: StackId,
    /// What was taken over of it before.
    before: Option<Versioned<Definition>>,
    alias: Alias,
    /// Which stacks it may be under a new name.
    may_be: Vec<StackId>,
}

impl Meant {
    /// A stack that has the name already.
    fn known(id: StackId, before: Option<Versioned<Definition>>) -> Self {
        let may_be = before.as_ref().map(|before| before.may_be.clone()).unwrap_or_default();
        Self { id, before, alias: Alias::Stands, may_be }
    }
}

/// What is to be done about the name.
enum Alias {
    /// It means the stack already.
    Stands,
    /// It is new, and so is the stack.
    New,
    /// It is new; the stack had this name before.
    MovedFrom(StackName),
}

impl Taking<'_> {
    pub(super) async fn take_stacks(
        &mut self,
        settings: &SourceSettings,
        known: &Known,
    ) -> Result<(), PortError> {
        let mut movable = Movable::of(self, known).await?;
        for manifest in self.set.stacks.clone() {
            match self.meant(settings, known, &mut movable, &manifest).await? {
                Ok(meant) => self.take_stack(meant, manifest).await?,
                Err(why) => self.findings.push(format!(
                    "{}: error: stack {} {why}; it is held back here",
                    manifest.place, manifest.name
                )),
            }
        }
        Ok(())
    }

    /// Finds the stack that a manifest means; or why that cannot be taken over.
    async fn meant(
        &self,
        settings: &SourceSettings,
        known: &Known,
        movable: &mut Movable,
        manifest: &StackManifest,
    ) -> Result<Result<Meant, String>, PortError> {
        let store = self.ports.store.as_ref();
        if let Some(before) =
            known.definitions.get(&manifest.name).filter(|known| known.set == self.record.name)
        {
            return Ok(Ok(Meant::known(before.stack, Some(before.clone()))));
        }
        if let Some(alias) = load::<StackAlias>(store, &Key::stack_name(&manifest.name)).await? {
            let id = alias.stack;
            let before = load::<Definition>(store, &Key::definition(id)).await?;
            let elsewhere =
                before.as_ref().filter(|before| before.set != self.record.name && before.vanished.is_none());
            return Ok(match elsewhere {
                Some(elsewhere) => Err(format!("is defined in {} already", elsewhere.set)),
                None => Ok(Meant::known(id, before)),
            });
        }
        let origin = match movable.origin(self.ports, settings, manifest).await? {
            Ok(origin) => origin,
            Err(why) => {
                return Ok(Err(format!(
                    "may be a stack that vanished, under a new name; its code must be read to tell: {why}"
                )));
            }
        };
        Ok(Ok(self.meant_by_new_name(known, origin)))
    }

    fn meant_by_new_name(&self, known: &Known, origin: Origin) -> Meant {
        let new =
            |may_be| Meant { id: StackId(self.ports.ids.ulid()), before: None, alias: Alias::New, may_be };
        match origin {
            Origin::New { may_be } => new(may_be),
            Origin::Renamed(former) => known.definitions.get(&former).map_or_else(
                || new(Vec::new()),
                |former| Meant {
                    id: former.stack,
                    before: Some(former.clone()),
                    alias: Alias::MovedFrom(former.name.clone()),
                    may_be: Vec::new(),
                },
            ),
        }
    }

    async fn take_stack(&mut self, meant: Meant, manifest: StackManifest) -> Result<(), PortError> {
        let before = meant.before.as_deref();
        if before.is_some_and(|before| before.set == self.record.name && before.snapshot > self.snapshot) {
            return Ok(());
        }
        let definition = self.definition(&meant, manifest);
        let same = before
            .is_some_and(|before| Definition { snapshot: before.snapshot, ..definition.clone() } == *before);
        // If a snapshot that was cut wrote it last, its messages may be missing, whatever this one changes.
        let written = before.map_or(0, |before| before.snapshot);
        let was_cut = written > self.record.taken;
        if was_cut {
            self.sources.insert(definition.spec.source.clone());
        }
        if same {
            if was_cut {
                self.wake(meant.id, written).await?;
                self.wake_sharers(None, &definition).await?;
            }
            return Ok(());
        }
        let seen = self.seen(meant.id).await?;
        let id = (meant.id, &definition.name);
        let edges = edges::Change::new(before, id, Some(&definition.spec), seen.as_ref())?;
        self.sources.extend(sources_concerned(before, &definition));
        let wakes = before.is_none_or(|before| {
            was_cut
                || before.spec != definition.spec
                || before.name != definition.name
                || before.vanished.is_some()
                || before.held_back.is_some()
        });
        let id = meant.id;
        let before = meant.before.as_deref().cloned();
        self.write_stack(meant, definition.clone(), edges).await?;
        self.wake_sharers(before.as_ref(), &definition).await?;
        if wakes { self.wake(id, self.snapshot).await } else { Ok(()) }
    }

    /// What was last seen of a stack's code.
    pub(super) async fn seen(&self, stack: StackId) -> Result<Option<Observation>, PortError> {
        let seen = load::<Observation>(self.ports.store.as_ref(), &Key::observation(stack)).await?;
        Ok(seen.map(Versioned::into_value))
    }

    /// Wakes the stacks that name the state which a stack has come to, or left.
    pub(super) async fn wake_sharers(
        &self,
        before: Option<&Definition>,
        definition: &Definition,
    ) -> Result<(), PortError> {
        let seen = self.seen(definition.stack).await?;
        let named = before.into_iter().chain([definition]);
        let addresses: Vec<StateAddress> =
            named.map(|definition| known_address(&definition.spec, seen.as_ref())).collect();
        states::wake_others(self.ports, definition.stack, &addresses).await
    }

    fn definition(&self, meant: &Meant, manifest: StackManifest) -> Definition {
        let approved = |spec: &StackSpec| match &spec.approve_plan {
            ApprovePlan::Plan { .. } => Some(spec.approve_plan.clone()),
            _ => None,
        };
        let (author, author_known_by, author_identity) = match meant.before.as_deref() {
            Some(before) if approved(&before.spec) == approved(&manifest.spec) => {
                let Definition { author, author_known_by, author_identity, .. } = before.clone();
                (author, author_known_by, author_identity)
            }
            _ => match self.documents.author.clone() {
                Some(Author { who, known_by, identity }) => (Some(who), Some(known_by), identity),
                None => (None, None, None),
            },
        };
        Definition {
            stack: meant.id,
            name: manifest.name,
            set: self.record.name.clone(),
            snapshot: self.snapshot,
            spec: manifest.spec,
            place: format!("{}:{}", manifest.place.file, manifest.place.line),
            vanished: None,
            author,
            author_known_by,
            author_identity,
            held_back: None,
            may_be: meant.may_be.clone(),
        }
    }

    async fn write_stack(
        &self,
        meant: Meant,
        definition: Definition,
        edges: edges::Change,
    ) -> Result<(), PortError> {
        let (id, name) = (meant.id, definition.name.clone());
        let edge = Edge { at: Key::set_stack(&self.record.name, id), stack: id, name: name.clone() };
        let mut writes = vec![put_any(&edge)?];
        if !matches!(meant.alias, Alias::Stands) {
            writes.push(Versioned::new(StackAlias { name, stack: id }).put()?);
        }
        if let Alias::MovedFrom(former) = &meant.alias {
            writes.push(Write::Delete { key: Key::stack_name(former), expected: Expected::Any });
        }
        let record = match meant.before {
            Some(before) => before.with(definition),
            None => Versioned::new(definition),
        };
        writes.push(record.put()?);
        match edges.commit(self.ports, writes).await? {
            Committed::Done => Ok(()),
            Committed::Conflict(key) => {
                Err(PortError::transient(format!("{key} was written by another snapshot meanwhile")))
            }
        }
    }
}

/// The sources whose closures a changed definition can change: a stack's own, and that of the stacks around it.
fn sources_concerned(
    before: Option<&Definition>,
    definition: &Definition,
) -> BTreeSet<yuba_core::id::SourceName> {
    let new = &definition.spec;
    let reach = |spec: &StackSpec| {
        (spec.source.clone(), spec.path.clone(), spec.tf_vars_files.clone(), spec.triggers.clone())
    };
    match before {
        Some(before)
            if reach(&before.spec) == reach(new)
                && before.vanished.is_none()
                && before.name == definition.name =>
        {
            BTreeSet::new()
        }
        Some(before) => BTreeSet::from([before.spec.source.clone(), new.source.clone()]),
        None => BTreeSet::from([new.source.clone()]),
    }
}
