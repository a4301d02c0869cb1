//! Which vanished stack a new name means: the one whose state has the same address, or, where the installation keeps the
//! state, the one that would be planned the same: with the same code, workspace and settings.
//!
//! That is settled once, when the name is first taken over, so no run was made under it yet. Where the manifest does not
//! name the backend itself and a vanished stack comes into question, the code is fetched and read first; while it cannot
//! be read, the new name is held back. What is not known then (no literal backend, code that is pushed later) is a new
//! stack: its state lies where the vanished one's does, and nothing of that is destroyed while it is named. Where the
//! installation keeps that state, and only the settings differ, the new stack remembers whom it may be and asks at its
//! first plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use yuba_core::decide::settings_digest;
use yuba_core::id::{SourceName, StackId, StackName};
use yuba_core::manifest::StackManifest;
use yuba_core::record::Key;
use yuba_core::source::{Definition, Observation, Source};
use yuba_core::spec::StackSpec;
use yuba_core::stack::Stack;
use yuba_core::state_address::{CodeBackend, StateAddress, known_address, state_address};
use yuba_ports::records::{Versioned, load};
use yuba_ports::{PortError, Ports};

use super::Taking;
use super::known::Known;
use crate::backoff::Trouble;
use crate::git::Checkout;
use crate::look::fetch;
use crate::settings::SourceSettings;
use crate::stored::load_all;

/// Stacks that are gone from the set, by what a new name for one is known by.
pub(super) struct Movable {
    /// By the address of their state.
    by_address: BTreeMap<String, StackName>,
    /// Those whose state the installation keeps.
    kept: Vec<Kept>,
    fetched: BTreeMap<SourceName, Result<Arc<dyn Checkout>, Trouble>>,
}

/// A stack that is gone and whose state the installation keeps.
struct Kept {
    definition: Versioned<Definition>,
    /// Its state holds something, or soon may.
    is_in_use: bool,
}

/// What a new name means.
pub(super) enum Origin {
    /// A stack that had another name.
    Renamed(StackName),
    /// A stack of its own, or one of these under a new name.
    New { may_be: Vec<StackId> },
}

impl Movable {
    /// Finds them. Of several with one address, the one that vanished last is meant.
    pub(super) async fn of(taking: &Taking<'_>, known: &Known) -> Result<Self, PortError> {
        let is_gone = |known: &&Versioned<Definition>| {
            known.set == taking.record.name && (known.vanished.is_some() || taking.lacks(&known.name))
        };
        let mut gone: Vec<&Versioned<Definition>> = known.definitions.values().filter(is_gone).collect();
        gone.sort_by_key(|known| (known.vanished.unwrap_or(taking.now), known.snapshot));
        let keys = |of: fn(StackId) -> Key| gone.iter().map(|known| of(known.stack)).collect();
        let seen = load_all::<Observation>(taking.ports, keys(Key::observation)).await?;
        let stacks = load_all::<Stack>(taking.ports, keys(Key::stack)).await?;
        let (mut by_address, mut kept) = (BTreeMap::new(), Vec::new());
        for ((known, seen), stack) in gone.into_iter().zip(&seen).zip(&stacks) {
            match known_address(&known.spec, seen.as_deref()) {
                StateAddress::At(place) => drop(by_address.insert(place, known.name.clone())),
                StateAddress::Own => {
                    let is_in_use =
                        stack.as_ref().is_some_and(|stack| stack.may_hold() || stack.run.is_some());
                    kept.push(Kept { definition: known.clone(), is_in_use });
                }
                StateAddress::Perhaps(_) => {}
            }
        }
        Ok(Self { by_address, kept, fetched: BTreeMap::new() })
    }

    /// What a name that is new means; or why that cannot be told now.
    pub(super) async fn origin(
        &mut self,
        ports: &Ports,
        settings: &SourceSettings,
        manifest: &StackManifest,
    ) -> Result<Result<Origin, String>, PortError> {
        let spec = &manifest.spec;
        let mut address = state_address(spec, &CodeBackend::Unseen);
        let comes_into_question = !self.by_address.is_empty() || !self.may_be(spec).is_empty();
        if comes_into_question && address.place().is_none() && manifest.backend_gap.is_some() {
            match self.code(ports, settings, manifest).await? {
                Ok(code) => address = state_address(spec, &code),
                Err(trouble) => return Ok(Err(trouble.message)),
            }
        }
        Ok(Ok(match address {
            StateAddress::At(place) => match self.by_address.remove(&place) {
                Some(former) => Origin::Renamed(former),
                None => Origin::New { may_be: Vec::new() },
            },
            StateAddress::Own => self.origin_by_settings(spec),
            StateAddress::Perhaps(_) => Origin::New { may_be: self.may_be(spec) },
        }))
    }

    /// The one stack that would be planned the same. To take its state over changes nothing; to begin anew would make all
    /// that it manages a second time.
    fn origin_by_settings(&mut self, spec: &StackSpec) -> Origin {
        let settings = settings_digest(spec);
        let same = |kept: &Kept| kept.is_in_use && settings_digest(&kept.definition.spec) == settings;
        let found: Vec<usize> =
            self.kept.iter().enumerate().filter(|(_, kept)| same(kept)).map(|(at, _)| at).collect();
        match found.as_slice() {
            [at] => Origin::Renamed(self.kept.remove(*at).definition.name.clone()),
            _ => Origin::New { may_be: self.may_be(spec) },
        }
    }

    /// Those with the same code and workspace whose state the installation keeps.
    fn may_be(&self, spec: &StackSpec) -> Vec<StackId> {
        let place = |spec: &StackSpec| (spec.source.clone(), spec.path.clone(), spec.workspace.clone());
        let mine = place(spec);
        let definitions = self.kept.iter().map(|kept| &kept.definition);
        definitions.filter(|known| place(&known.spec) == mine).map(|known| known.stack).collect()
    }

    /// What the code of a stack names, at the newest revision of its source.
    async fn code(
        &mut self,
        ports: &Ports,
        settings: &SourceSettings,
        manifest: &StackManifest,
    ) -> Result<Result<CodeBackend, Trouble>, PortError> {
        let spec = &manifest.spec;
        if !self.fetched.contains_key(&spec.source) {
            let Some(source) = load::<Source>(ports.store.as_ref(), &Key::source(&spec.source)).await? else {
                return Ok(Ok(CodeBackend::Unseen));
            };
            let fetched = fetch(ports, settings, &source).await?;
            self.fetched.insert(spec.source.clone(), fetched);
        }
        let fetched = match self.fetched.get(&spec.source) {
            Some(Ok(fetched)) => fetched,
            Some(Err(trouble)) => return Ok(Err(trouble.clone())),
            None => return Ok(Ok(CodeBackend::Unseen)),
        };
        let paths = BTreeMap::from([(manifest.name.clone(), spec.path.clone())]);
        let code = fetched.backends(paths).await?;
        Ok(code.map(|mut code| code.remove(&manifest.name).unwrap_or_default()))
    }
}
