//! `ObjectGrants`: what lets a task reach its own objects, and no other.

use async_trait::async_trait;
use yuba_core::job::Job;
use yuba_core::task::ObjectAccess;

use crate::error::PortError;

/// Lets tasks reach their objects. On AWS credentials of STS, on one machine the directory.
#[async_trait]
pub trait ObjectGrants: Send + Sync {
    /// Lets the attempt of a job write below its own prefix ([`Job::prefix`]) and read that and [`Job::reads`].
    async fn grant(&self, job: &Job) -> Result<ObjectAccess, PortError>;
}
