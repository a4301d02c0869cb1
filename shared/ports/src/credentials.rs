//! `Credentials`: a role becomes short-lived credentials.

use std::collections::BTreeMap;

use async_trait::async_trait;
use secrecy::SecretString;
use yuba_core::id::{AttemptId, Revision, StackName};
use yuba_core::time::Timestamp;

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

/// What a role became.
#[derive(Debug, Clone, Default)]
pub struct Assumed {
    /// The environment variables that the engine runs with.
    pub variables: BTreeMap<String, SecretString>,
    /// When they end; `None` where they do not.
    pub expire: Option<Timestamp>,
}

/// Roles become short-lived credentials. On AWS STS.
#[async_trait]
pub trait Credentials: Send + Sync {
    /// Credentials of the session's role, or none where it names none.
    async fn assume(&self, session: &RoleSession) -> Result<Assumed, PortError>;
}
