//! What is done about a delivery that was verified and read: it is stored, and whomever it may concern is woken.

use yuba_core::id::DeliveryId;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::source::Delivery;
use yuba_git::webhook::{Notice, Push, Repositories};
use yuba_ports::records::{Versioned, put_any};
use yuba_ports::{Committed, PortError, Ports};

use crate::answer::Answer;
use crate::targets::Target;

/// Longer texts of a sender are cut: they are for people, and a record has a greatest size.
const LONGEST: usize = 500;

/// A delivery's id may be part of a key; a longer one is replaced.
const LONGEST_ID: usize = 128;

/// Stores the delivery and wakes whom it concerns, in this order: what was answered is durable.
pub(crate) async fn accept(
    ports: &Ports,
    host: &'static str,
    notice: Notice,
    targets: &[Target],
) -> Result<Answer, PortError> {
    match notice {
        Notice::Push(push) => accept_push(ports, host, push, targets).await,
        Notice::Ping { delivery, repositories } => {
            let fitting = targets.iter().filter(|target| target.is_in(&repositories));
            Ok(Answer::Pong(delivery, fitting.map(|target| target.wake.clone()).collect()))
        }
        Notice::Ignored { delivery, event, reason } => {
            let noted = Delivery {
                id: delivery,
                host: host.to_owned(),
                event: cut(&event),
                repository: String::new(),
                reference: None,
                at: ports.clock.now(),
                pusher: None,
                commit: None,
                outcome: Some(reason.clone()),
            };
            Ok(Answer::Ignored(store(ports, noted).await?, reason))
        }
    }
}

async fn accept_push(
    ports: &Ports,
    host: &'static str,
    push: Push,
    targets: &[Target],
) -> Result<Answer, PortError> {
    let concerned = concerned(&push, targets);
    let mut delivery = Delivery {
        id: push.delivery,
        host: host.to_owned(),
        event: "push".to_owned(),
        repository: shown(&push.repositories),
        reference: push.reference.as_deref().map(cut),
        at: ports.clock.now(),
        pusher: push.pusher.as_deref().filter(|_| host == "github").map(cut),
        commit: push.after.clone(),
        outcome: concerned.as_ref().err().cloned(),
    };
    delivery.id = unique(ports, delivery.id);
    let id = store(ports, delivery).await?;
    let wakes = match concerned {
        Err(reason) => return Ok(Answer::Ignored(id, reason)),
        Ok(wakes) => wakes,
    };
    let message = |wake: &Wake| Message::new(wake.clone(), Cause::Delivery(id.clone()));
    ports.queue.send(wakes.iter().map(message).collect()).await?;
    Ok(Answer::Woken(id, wakes))
}

/// Whom a push concerns, or why nobody.
fn concerned(push: &Push, targets: &[Target]) -> Result<Vec<Wake>, String> {
    let here: Vec<&Target> = targets.iter().filter(|target| target.is_in(&push.repositories)).collect();
    if here.is_empty() {
        return Err(format!("no source has the repository {}", shown(&push.repositories)));
    }
    let moved: Vec<Wake> =
        here.iter().filter(|target| target.may_be_moved_by(push)).map(|target| target.wake.clone()).collect();
    if moved.is_empty() {
        let reference = push.reference.as_deref().unwrap_or_default();
        return Err(format!("no source of this repository follows {}", cut(reference)));
    }
    Ok(moved)
}

/// A sender that does not number its deliveries gets an id made of the body; two pushes may have equal bodies, and an
/// equal id could make the queue drop the second.
fn unique(ports: &Ports, id: DeliveryId) -> DeliveryId {
    let numbered = !id.0.starts_with("sha256:") && id.0.len() <= LONGEST_ID;
    if numbered { id } else { DeliveryId(ports.ids.ulid().to_string()) }
}

/// Stores a delivery. An id that came before gets a suffix: it may name another push, and the first one's outcome must
/// stay.
async fn store(ports: &Ports, mut delivery: Delivery) -> Result<DeliveryId, PortError> {
    let first = Versioned::new(delivery.clone()).put()?;
    if ports.store.commit(vec![first]).await? != Committed::Done {
        delivery.id = DeliveryId(format!("{}.{}", delivery.id, ports.ids.ulid()));
        ports.store.commit(vec![put_any(&delivery)?]).await?;
    }
    Ok(delivery.id)
}

fn shown(repositories: &Repositories) -> String {
    match repositories {
        Repositories::Any => "any".to_owned(),
        Repositories::Named(named) => {
            named.iter().next().map(|first| cut(first.as_str())).unwrap_or_default()
        }
    }
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}
