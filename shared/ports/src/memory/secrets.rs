//! Secrets and config maps in a map.

use std::collections::BTreeMap;
use std::sync::Mutex;

use async_trait::async_trait;
use secrecy::{ExposeSecret, SecretString};
use yuba_core::id::SecretName;
use yuba_core::spec::ValuesKind;

use super::lock;
use crate::{PortError, SecretValues, Secrets};

/// Secrets and config maps in memory.
#[derive(Debug, Default)]
pub struct MemorySecrets(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<(&'static str, SecretName), SecretValues>,
    writes: u64,
}

impl MemorySecrets {
    /// Writes an object of plain texts.
    pub fn set(&self, kind: ValuesKind, name: &SecretName, values: &[(&str, &str)]) {
        let secret = |(key, value): &(&str, &str)| ((*key).to_owned(), SecretString::from(*value));
        lock(&self.0).put(kind, name, values.iter().map(secret).collect());
    }

    /// Deletes an object.
    pub fn remove(&self, kind: ValuesKind, name: &SecretName) {
        lock(&self.0).objects.remove(&(word(kind), name.clone()));
    }
}

#[async_trait]
impl Secrets for MemorySecrets {
    async fn get(&self, kind: ValuesKind, name: &SecretName) -> Result<Option<SecretValues>, PortError> {
        Ok(lock(&self.0).objects.get(&(word(kind), name.clone())).cloned())
    }

    async fn version(&self, kind: ValuesKind, name: &SecretName) -> Result<Option<String>, PortError> {
        Ok(self.get(kind, name).await?.map(|object| object.version))
    }

    async fn put(
        &self,
        kind: ValuesKind,
        name: &SecretName,
        values: BTreeMap<String, SecretString>,
    ) -> Result<(), PortError> {
        lock(&self.0).put(kind, name, values);
        Ok(())
    }

    async fn list(&self, kind: ValuesKind, namespace: Option<&str>) -> Result<Vec<SecretName>, PortError> {
        let state = lock(&self.0);
        let names = state.objects.keys().filter(|(of, _)| *of == word(kind)).map(|(_, name)| name);
        let wanted = |name: &&SecretName| namespace.is_none_or(|namespace| name.namespace == namespace);
        Ok(names.filter(wanted).cloned().collect())
    }
}

impl State {
    fn put(&mut self, kind: ValuesKind, name: &SecretName, values: BTreeMap<String, SecretString>) {
        let place = (word(kind), name.clone());
        if self.objects.get(&place).is_some_and(|object| equal(&object.values, &values)) {
            return;
        }
        self.writes += 1;
        let version = format!("v{}", self.writes);
        self.objects.insert(place, SecretValues { version, values });
    }
}

fn equal(one: &BTreeMap<String, SecretString>, other: &BTreeMap<String, SecretString>) -> bool {
    let same =
        |((key, value), (other_key, other_value)): ((&String, &SecretString), (&String, &SecretString))| {
            key == other_key && value.expose_secret() == other_value.expose_secret()
        };
    one.len() == other.len() && one.iter().zip(other).all(same)
}

fn word(kind: ValuesKind) -> &'static str {
    match kind {
        ValuesKind::Secret => "Secret",
        ValuesKind::ConfigMap => "ConfigMap",
    }
}
