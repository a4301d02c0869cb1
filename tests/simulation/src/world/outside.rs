//! The other ports of the world: queue, events, secrets, roles, time, ids.

use std::collections::BTreeMap;

use async_trait::async_trait;
use secrecy::SecretString;
use ulid::Ulid;
use yuba_core::event::Event;
use yuba_core::id::SecretName;
use yuba_core::message::Message;
use yuba_core::spec::ValuesKind;
use yuba_core::time::{Span, Timestamp};
use yuba_ports::{
    Assumed, Clock, Credentials, DeadLetter, Ids, PortError, Publisher, Queue, QueueName, Received,
    RoleSession, SecretValues, Secrets,
};

use super::World;
use crate::lane::Lane;
use crate::mutation::Mutation;

#[async_trait]
impl Queue for World {
    async fn send(&self, messages: Vec<Message>) -> Result<(), PortError> {
        let what = || {
            let names: Vec<String> = messages.iter().map(Message::deduplication_id).collect();
            format!("sends {}", names.join(", "))
        };
        self.call(Lane::Queue, what, async {
            let mut state = self.state();
            for message in messages.iter().filter(|message| !state.loses(message)).collect::<Vec<_>>() {
                state.take_in(message);
            }
            Ok(())
        })
        .await
    }

    async fn receive(
        &self,
        _queue: QueueName,
        _most: usize,
        _wait: Span,
    ) -> Result<Vec<Received>, PortError> {
        Err(PortError::permanent("messages are received by the simulation itself"))
    }

    async fn ack(&self, received: &Received) -> Result<(), PortError> {
        let what = || format!("acknowledges {}", received.message.deduplication_id());
        self.call(Lane::Queue, what, async {
            self.state().line.ack(received);
            Ok(())
        })
        .await
    }

    async fn release(&self, received: &Received, after: Span) -> Result<(), PortError> {
        let what = || format!("gives {} back for {after}", received.message.deduplication_id());
        self.call(Lane::Queue, what, async {
            let mut state = self.state();
            let visible_at = state.now + after;
            state.line.release(received, visible_at);
            Ok(())
        })
        .await
    }

    async fn set_aside(&self, received: &Received, _why: &str) -> Result<(), PortError> {
        self.ack(received).await
    }

    async fn dead_letters(&self, _queue: QueueName, _most: usize) -> Result<Vec<DeadLetter>, PortError> {
        Err(PortError::permanent("what is set aside is lost in a simulation"))
    }

    async fn redrive(&self, _queue: QueueName, _most: usize) -> Result<usize, PortError> {
        Err(PortError::permanent("what is set aside is lost in a simulation"))
    }
}

impl super::State {
    pub(crate) fn take_in(&mut self, message: &Message) {
        let delay = Span(self.chance.between(0, 200));
        let (now, rate) = (self.now, self.rates.duplicate);
        if self.line.send(message, now, delay) && self.goes_wrong(rate) {
            self.line.push(message, now + delay);
        }
    }
}

#[async_trait]
impl Publisher for World {
    async fn publish(&self, event: &Event) -> Result<(), PortError> {
        let what = || format!("publishes event {}: {}", event.number, event.message);
        let published = self
            .ask(Lane::Publisher, what, async {
                let mut state = self.state();
                if state.mutation != Some(Mutation::EventForgotten) {
                    state.published(event);
                }
                Ok(())
            })
            .await;
        if published.as_ref().is_err_and(|error| error.remedy == yuba_ports::Remedy::Permanent) {
            self.state().oracle.refused_event(event);
        }
        published
    }
}

#[async_trait]
impl Secrets for World {
    async fn get(&self, kind: ValuesKind, name: &SecretName) -> Result<Option<SecretValues>, PortError> {
        self.ask(Lane::Secrets, || format!("reads values {name}"), self.shared.secrets.get(kind, name)).await
    }

    async fn version(&self, kind: ValuesKind, name: &SecretName) -> Result<Option<String>, PortError> {
        self.ask(
            Lane::Secrets,
            || format!("reads the version of {name}"),
            self.shared.secrets.version(kind, name),
        )
        .await
    }

    async fn put(
        &self,
        kind: ValuesKind,
        name: &SecretName,
        values: BTreeMap<String, SecretString>,
    ) -> Result<(), PortError> {
        self.ask(
            Lane::Secrets,
            || format!("writes values {name}"),
            self.shared.secrets.put(kind, name, values),
        )
        .await
    }

    async fn list(&self, kind: ValuesKind, namespace: Option<&str>) -> Result<Vec<SecretName>, PortError> {
        self.ask(Lane::Secrets, || "lists values".to_owned(), self.shared.secrets.list(kind, namespace)).await
    }
}

#[async_trait]
impl Credentials for World {
    async fn assume(&self, session: &RoleSession) -> Result<Assumed, PortError> {
        self.ask(Lane::Secrets, || format!("takes a role for {}", session.attempt), async {
            Ok(Assumed::default())
        })
        .await
    }
}

impl Clock for World {
    fn now(&self) -> Timestamp {
        let state = self.state();
        Timestamp(state.now.0 + state.current.skew.0)
    }
}

impl Ids for World {
    fn ulid(&self) -> Ulid {
        let now = Clock::now(self);
        let mut state = self.state();
        let number = state.number();
        // Spread, because a stack's id decides how its intervals are spread.
        let spread = u128::from(number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        Ulid::from_parts(u64::try_from(now.0).unwrap_or(0), spread << 16 | u128::from(number & 0xFFFF))
    }
}
