//! Stands where a function uses no such port. Asking it is a mistake in the function's list of ports, and said to be one.

use std::collections::BTreeMap;
use std::path::Path;

use async_trait::async_trait;
use secrecy::SecretString;
use yuba_core::event::Event;
use yuba_core::id::{AttemptId, SecretName};
use yuba_core::spec::ValuesKind;
use yuba_ports::{
    Assumed, Blobs, Credentials, LaunchOutcome, Launcher, PortError, Publisher, PutMode, PutOutcome,
    RoleSession, SecretValues, Secrets, StartTask, TaskStatus,
};

/// A port that this function did not open.
pub(super) struct NotOpened;

fn none<T>(port: &str) -> Result<T, PortError> {
    Err(PortError::permanent(format!(
        "this function opened no port for {port}: its program does not list it"
    )))
}

#[async_trait]
impl Blobs for NotOpened {
    async fn put(&self, _: &str, _: &[u8], _: PutMode) -> Result<PutOutcome, PortError> {
        none("objects")
    }
    async fn put_file(&self, _: &str, _: &Path, _: PutMode) -> Result<PutOutcome, PortError> {
        none("objects")
    }
    async fn get(&self, _: &str) -> Result<Option<Vec<u8>>, PortError> {
        none("objects")
    }
    async fn get_file(&self, _: &str, _: &Path) -> Result<bool, PortError> {
        none("objects")
    }
    async fn exists(&self, _: &str) -> Result<bool, PortError> {
        none("objects")
    }
    async fn list(&self, _: &str, _: Option<&str>, _: usize) -> Result<Vec<String>, PortError> {
        none("objects")
    }
    async fn delete(&self, _: &str) -> Result<(), PortError> {
        none("objects")
    }
}

#[async_trait]
impl Launcher for NotOpened {
    async fn start(&self, _: StartTask) -> Result<LaunchOutcome, PortError> {
        none("tasks")
    }
    async fn describe(&self, _: AttemptId) -> Result<TaskStatus, PortError> {
        none("tasks")
    }
    async fn kill(&self, _: AttemptId) -> Result<(), PortError> {
        none("tasks")
    }
}

#[async_trait]
impl Publisher for NotOpened {
    async fn publish(&self, _: &Event) -> Result<(), PortError> {
        none("events")
    }
}

#[async_trait]
impl Secrets for NotOpened {
    async fn get(&self, _: ValuesKind, _: &SecretName) -> Result<Option<SecretValues>, PortError> {
        none("secrets")
    }
    async fn version(&self, _: ValuesKind, _: &SecretName) -> Result<Option<String>, PortError> {
        none("secrets")
    }
    async fn put(
        &self,
        _: ValuesKind,
        _: &SecretName,
        _: BTreeMap<String, SecretString>,
    ) -> Result<(), PortError> {
        none("secrets")
    }
    async fn list(&self, _: ValuesKind, _: Option<&str>) -> Result<Vec<SecretName>, PortError> {
        none("secrets")
    }
}

#[async_trait]
impl Credentials for NotOpened {
    async fn assume(&self, _: &RoleSession) -> Result<Assumed, PortError> {
        none("roles")
    }
}
