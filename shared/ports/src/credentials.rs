//! `Credentials`: a role becomes short-lived credentials.

use std::collections::BTreeMap;

use async_trait::async_trait;
use secrecy::SecretString;
use yuba_core::id::{AttemptId, Revision, StackName};

use crate::error::PortError;

/// For whom credentials are made; goes into session name and tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleSession {
    /// The role; `None` where the stack names none.
    pub role: Option<String>,
    /// The stack.
    pub stack: StackName,
    /// The attempt, with its phase.
    pub attempt: AttemptId,
    /// The revision.
    pub revision: Revision,
}

/// Roles become short-lived credentials. On AWS STS.
#[async_trait]
pub trait Credentials: Send + Sync {
    /// The environment variables that the engine runs with.
    async fn assume(&self, session: &RoleSession) -> Result<BTreeMap<String, SecretString>, PortError>;
}
