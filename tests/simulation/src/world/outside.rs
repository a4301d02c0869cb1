//! The other ports of the world: queue, events, secrets, roles, time, ids.

use std::collections::BTreeMap;

use async_trait::async_trait;
use secrecy::SecretString;
use ulid::Ulid;
use yuba_core::event::Event;
use yuba_core::id::SecretName;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::spec::ValuesKind;
use yuba_core::time::{Span, Timestamp};
use yuba_ports::records::put_any;
use yuba_ports::{
    Assumed, Clock, Credentials, DeadLetter, Ids, PortError, Publisher, Queue, QueueName, Received,
    RoleSession, SecretValues, Secrets, Store,
};

use super::World;
use super::store::NEWER;
use crate::former::in_any_order;
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
            let mut messages: Vec<&Message> =
                messages.iter().filter(|message| !state.loses(message)).collect();
            if state.mutation == Some(Mutation::NoFixedOrder) && state.current.name.starts_with("source") {
                in_any_order(&mut messages);
            }
            for message in messages {
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
        let message = &self.message_by_another_version(message);
        let (rate, duplicate) = (self.rates.late, self.rates.duplicate);
        let most = if self.goes_wrong(rate) { 300_000 } else { 200 };
        let delay = Span(self.chance.between(0, most));
        let now = self.now;
        if !self.line.send(message, now, delay) {
            return;
        }
        self.may_poison(&message.deduplication_id());
        if self.goes_wrong(duplicate) {
            self.line.push(message, now + delay);
        }
    }

    /// A function of another version sent the message: with a field that this one does not know, or of the form before.
    fn message_by_another_version(&mut self, message: &Message) -> Message {
        let rate = self.rates.versions;
        let written = serde_json::to_value(message).ok().filter(|_| self.goes_wrong(rate));
        let Some(serde_json::Value::Object(mut written)) = written else { return message.clone() };
        let (field, value) = if self.chance.permille(500) { (NEWER, 1) } else { ("schema", 0) };
        written.insert(field.to_owned(), value.into());
        serde_json::from_value(written.into()).unwrap_or_else(|error| {
            self.violated(0, format!("a message of another version cannot be read: {error}"));
            message.clone()
        })
    }
}

#[async_trait]
impl Publisher for World {
    async fn publish(&self, event: &Event) -> Result<(), PortError> {
        let what = || format!("publishes event {}: {}", event.number, event.message);
        let published = self
            .call(Lane::Publisher, what, async {
                let mut state = self.state();
                if state.mutation != Some(Mutation::EventForgotten) {
                    state.published(event);
                }
                Ok(())
            })
            .await;
        let published = match published {
            Ok(()) => self.tell_notifier(event).await,
            failed => failed,
        };
        if published.as_ref().is_err_and(|error| error.remedy == yuba_ports::Remedy::Permanent) {
            self.state().oracle.refused_event(event);
        }
        published
    }
}

impl World {
    /// Where messages go anywhere, an event is kept, and the notifier is woken for it.
    async fn tell_notifier(&self, event: &Event) -> Result<(), PortError> {
        if !self.state().has_office {
            return Ok(());
        }
        self.commit(vec![put_any(event)?]).await?;
        let cause = Cause::Event { stack: event.stack, number: event.number };
        Queue::send(self, vec![Message::new(Wake::Events(event.stack), cause)]).await
    }
}

#[async_trait]
impl Secrets for World {
    async fn get(&self, kind: ValuesKind, name: &SecretName) -> Result<Option<SecretValues>, PortError> {
        self.call(Lane::Secrets, || format!("reads values {name}"), self.shared.secrets.get(kind, name)).await
    }

    async fn version(&self, kind: ValuesKind, name: &SecretName) -> Result<Option<String>, PortError> {
        self.call(
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
        self.call(
            Lane::Secrets,
            || format!("writes values {name}"),
            self.shared.secrets.put(kind, name, values),
        )
        .await
    }

    async fn list(&self, kind: ValuesKind, namespace: Option<&str>) -> Result<Vec<SecretName>, PortError> {
        self.call(Lane::Secrets, || "lists values".to_owned(), self.shared.secrets.list(kind, namespace))
            .await
    }
}

#[async_trait]
impl Credentials for World {
    async fn assume(&self, session: &RoleSession) -> Result<Assumed, PortError> {
        self.call(Lane::Secrets, || format!("takes a role for {}", session.attempt), async {
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
