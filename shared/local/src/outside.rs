//! Time, ids, roles and events on one machine.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use secrecy::SecretString;
use ulid::{Generator, Ulid};
use yuba_core::event::Event;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::task::environment::KILL_AFTER;
use yuba_core::time::Timestamp;
use yuba_ports::records::put_any;
use yuba_ports::{Assumed, Clock, Credentials, Ids, PortError, Publisher, Queue, RoleSession, Store};

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is the `Clock` port")]
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// Random ids that sort by time, and within a millisecond by the order in which they were made.
#[derive(Debug, Default)]
pub struct LocalIds(Mutex<Generator>);

impl Ids for LocalIds {
    fn ulid(&self) -> Ulid {
        let mut generator = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match generator.generate() {
            Ok(id) => id,
            Err(overflow) => overflow.commit_overflow_increment(),
        }
    }
}

/// The environment of the server: roles are not assumed on one machine.
#[derive(Debug, Default)]
pub struct AmbientCredentials {
    environment: BTreeMap<String, String>,
    said: AtomicBool,
}

impl AmbientCredentials {
    /// What engines run with; variables named `YUBA_…` are left out.
    pub fn new(environment: BTreeMap<String, String>) -> Self {
        Self { environment: without_own(environment), said: AtomicBool::new(false) }
    }
}

#[async_trait]
impl Credentials for AmbientCredentials {
    async fn assume(&self, session: &RoleSession) -> Result<Assumed, PortError> {
        if let Some(role) = &session.role
            && !self.said.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(stack = %session.stack, role, "roles are not assumed on one machine: engines run with the server's own credentials");
        }
        let secret = |(name, value): (&String, &String)| (name.clone(), SecretString::from(value.as_str()));
        Ok(Assumed { variables: self.environment.iter().map(secret).collect(), expire: None })
    }
}

/// An environment without Yuba's own variables.
pub(crate) fn without_own(mut environment: BTreeMap<String, String>) -> BTreeMap<String, String> {
    environment.retain(|name, _| !name.starts_with("YUBA_") || name == KILL_AFTER);
    environment
}

/// Events go into the store, where they are listed, into the log, and by a message to the notifier.
#[derive(Clone)]
pub struct StorePublisher {
    store: Arc<dyn Store>,
    queue: Arc<dyn Queue>,
}

impl StorePublisher {
    /// Events into a store, told of by a queue.
    pub fn new(store: Arc<dyn Store>, queue: Arc<dyn Queue>) -> Self {
        Self { store, queue }
    }
}

#[async_trait]
impl Publisher for StorePublisher {
    async fn publish(&self, event: &Event) -> Result<(), PortError> {
        self.store.commit(vec![put_any(event)?]).await?;
        let cause = Cause::Event { stack: event.stack, number: event.number };
        self.queue.send(vec![Message::new(Wake::Events(event.stack), cause)]).await?;
        let (stack, id, kind) = (&event.name, event.id(), event.kind.as_type());
        tracing::info!(%stack, id, kind, message = %event.message, "event");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_ids_sort_later() {
        let ids = LocalIds::default();
        let made: Vec<Ulid> = (0..1000).map(|_| ids.ulid()).collect();
        assert!(made.is_sorted_by(|one, next| one < next));
    }

    #[test]
    fn engines_do_not_inherit_what_is_ours() {
        let environment = [("YUBA_TASK_TOKEN", "x"), ("PATH", "/bin"), ("TF_TOKEN_x", "y")];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let credentials = AmbientCredentials::new(environment.into());
        assert_eq!(credentials.environment.keys().collect::<Vec<_>>(), ["PATH", "TF_TOKEN_x"]);
    }
}
