//! Documents of the manifests that are stored as they say, and bind as they are stored: who receives messages, and of
//! what; when nothing is applied.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::id::{ManifestSetName, ObjectName};
use crate::record::{Key, Record};
use crate::time::Timestamp;

/// What documents of one kind say.
pub trait DeclaredSpec: Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync {
    /// The kind, as documents write it.
    const KIND: &'static str;
    /// The one partition in which all of them lie, by name.
    const PARTITION: &'static str;
    /// The `schema` number of their records.
    const SCHEMA: u32;
    /// Whether decisions depend on them.
    const BINDING: Binding = Binding::Never;
}

/// Whether decisions about stacks depend on what a document says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// None does.
    Never,
    /// Each does, from the moment it is stored: a change is counted, so that decisions that read it before are made again.
    AtOnce,
}

/// A document as it was taken over. Written by `source`, only upwards by snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "S: DeclaredSpec")]
pub struct Declared<S> {
    /// Its name.
    pub name: ObjectName,
    /// What it says.
    pub spec: S,
    /// The set that holds it.
    pub set: ManifestSetName,
    /// The set's snapshot it was taken from.
    pub snapshot: u64,
    /// Where it stands: `flux/alerts.yaml:12`.
    pub place: String,
    /// When it vanished from the manifests: from then on it says nothing.
    pub vanished: Option<Timestamp>,
}

impl<S: DeclaredSpec> Declared<S> {
    /// Where the document of a name lies.
    pub fn key_of(name: &ObjectName) -> Key {
        Key::new(S::PARTITION, name.to_string())
    }
}

impl<S: DeclaredSpec> Record for Declared<S> {
    const SCHEMA: u32 = S::SCHEMA;
    fn key(&self) -> Key {
        Self::key_of(&self.name)
    }
}
