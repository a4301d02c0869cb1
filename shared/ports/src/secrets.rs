//! `Secrets`: secrets and config maps by name. Values are read where they are used, and never stored in a record.

use std::collections::BTreeMap;

use async_trait::async_trait;
use secrecy::SecretString;
use yuba_core::id::SecretName;
use yuba_core::spec::ValuesKind;

use crate::error::PortError;

/// The values of a secret or config map, and their version.
#[derive(Debug, Clone)]
pub struct SecretValues {
    /// Changes whenever a value does; reveals nothing of them.
    pub version: String,
    /// The values by key.
    pub values: BTreeMap<String, SecretString>,
}

/// Secrets and config maps. On AWS Secrets Manager and SSM, on one machine a directory of mode 0700.
#[async_trait]
pub trait Secrets: Send + Sync {
    /// Reads all values; `None` where there is no such object.
    async fn get(&self, kind: ValuesKind, name: &SecretName) -> Result<Option<SecretValues>, PortError>;

    /// Reads the version alone; `None` where there is no such object.
    async fn version(&self, kind: ValuesKind, name: &SecretName) -> Result<Option<String>, PortError>;

    /// Writes the whole object. Equal values keep the version.
    async fn put(
        &self,
        kind: ValuesKind,
        name: &SecretName,
        values: BTreeMap<String, SecretString>,
    ) -> Result<(), PortError>;

    /// Names of the objects of a namespace, or of all.
    async fn list(&self, kind: ValuesKind, namespace: Option<&str>) -> Result<Vec<SecretName>, PortError>;
}
