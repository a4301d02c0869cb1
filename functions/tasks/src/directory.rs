//! Objects in a directory of the machine that tasks run on.

use std::path::PathBuf;

use async_trait::async_trait;
use yuba_core::job::Job;
use yuba_core::task::ObjectAccess;
use yuba_ports::{ObjectGrants, PortError};

/// The directory under which objects lie. Every task that runs as the same user reaches all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectsDirectory(pub PathBuf);

#[async_trait]
impl ObjectGrants for ObjectsDirectory {
    async fn grant(&self, _: &Job) -> Result<ObjectAccess, PortError> {
        Ok(ObjectAccess::Directory { path: self.0.to_string_lossy().into_owned() })
    }
}
