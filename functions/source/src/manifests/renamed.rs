//! Which vanished stack a new name means: the one whose state has the same address.
//!
//! That is settled once, when the name is first taken over, so no run was made under it yet. Where the manifest does not
//! name the backend itself and a vanished stack comes into question, the code is fetched and read first; while it cannot
//! be read, the new name is held back. What is not known then (no literal backend, code that is pushed later) is a new
//! stack: its state lies where the vanished one's does, and nothing of that is destroyed while it is named.

use std::collections::BTreeMap;
use std::sync::Arc;

use yuba_core::id::{SourceName, StackName};
use yuba_core::manifest::StackManifest;
use yuba_core::record::Key;
use yuba_core::source::{Definition, Observation, Source};
use yuba_core::state_address::{CodeBackend, known_address, state_address};
use yuba_ports::records::{Versioned, load};
use yuba_ports::{PortError, Ports};

use super::Taking;
use super::known::Known;
use crate::backoff::Trouble;
use crate::git::Checkout;
use crate::look::fetch;
use crate::settings::SourceSettings;
use crate::stored::load_all;

/// Stacks that are gone from the set, by the address of their state, and what was fetched to compare with them.
pub(super) struct Movable {
    by_address: BTreeMap<String, StackName>,
    fetched: BTreeMap<SourceName, Result<Arc<dyn Checkout>, Trouble>>,
}

impl Movable {
    /// Finds them. Of several with one address, the one that vanished last is meant.
    pub(super) async fn of(taking: &Taking<'_>, known: &Known) -> Result<Self, PortError> {
        let is_gone = |known: &&Versioned<Definition>| {
            known.set == taking.record.name && (known.vanished.is_some() || taking.lacks(&known.name))
        };
        let mut gone: Vec<&Versioned<Definition>> = known.definitions.values().filter(is_gone).collect();
        gone.sort_by_key(|known| (known.vanished.unwrap_or(taking.now), known.snapshot));
        let keys = gone.iter().map(|known| Key::observation(known.stack)).collect();
        let seen = load_all::<Observation>(taking.ports, keys).await?;
        let place = |(known, seen): (&Versioned<Definition>, &Option<Versioned<Observation>>)| {
            let address = known_address(&known.spec, seen.as_deref());
            Some((address.place()?.to_owned(), known.name.clone()))
        };
        let by_address = gone.into_iter().zip(&seen).filter_map(place).collect();
        Ok(Self { by_address, fetched: BTreeMap::new() })
    }

    /// The former name of a stack whose name is new, if it had one; or why that cannot be told now.
    pub(super) async fn former(
        &mut self,
        ports: &Ports,
        settings: &SourceSettings,
        manifest: &StackManifest,
    ) -> Result<Result<Option<StackName>, String>, PortError> {
        if self.by_address.is_empty() {
            return Ok(Ok(None));
        }
        let mut address = state_address(&manifest.spec, &CodeBackend::Unseen);
        if address.place().is_none() && manifest.backend_gap.is_some() {
            match self.code(ports, settings, manifest).await? {
                Ok(code) => address = state_address(&manifest.spec, &code),
                Err(trouble) => return Ok(Err(trouble.message)),
            }
        }
        Ok(Ok(address.place().and_then(|place| self.by_address.remove(place))))
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
