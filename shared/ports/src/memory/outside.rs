//! What goes out of the installation: events and roles, kept to be looked at.

use std::sync::Mutex;

use async_trait::async_trait;
use secrecy::SecretString;
use yuba_core::event::Event;
use yuba_core::time::Timestamp;

use super::lock;
use crate::{Assumed, Credentials, PortError, Publisher, RoleSession};

/// Events in memory.
#[derive(Debug, Default)]
pub struct MemoryPublisher(Mutex<Vec<Event>>);

impl MemoryPublisher {
    /// Every publication, in order; one event may have been published more than once.
    pub fn published(&self) -> Vec<Event> {
        lock(&self.0).clone()
    }
}

#[async_trait]
impl Publisher for MemoryPublisher {
    async fn publish(&self, event: &Event) -> Result<(), PortError> {
        lock(&self.0).push(event.clone());
        Ok(())
    }
}

/// Roles in memory: each becomes the same environment.
#[derive(Debug, Default)]
pub struct MemoryCredentials(Mutex<(Vec<RoleSession>, Assumed)>);

impl MemoryCredentials {
    /// The sessions that were asked for, in order.
    pub fn sessions(&self) -> Vec<RoleSession> {
        lock(&self.0).0.clone()
    }

    /// Sets a variable of the environment that every role becomes.
    pub fn set(&self, name: &str, value: &str) {
        lock(&self.0).1.variables.insert(name.to_owned(), SecretString::from(value));
    }

    /// Sets when what every role becomes ends.
    pub fn expire(&self, at: Timestamp) {
        lock(&self.0).1.expire = Some(at);
    }
}

#[async_trait]
impl Credentials for MemoryCredentials {
    async fn assume(&self, session: &RoleSession) -> Result<Assumed, PortError> {
        let mut state = lock(&self.0);
        state.0.push(session.clone());
        Ok(state.1.clone())
    }
}
