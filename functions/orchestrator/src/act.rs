//! Tries each effect that is still to do once, and strikes what was done.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};
use tracing::{debug, warn};
use yuba_core::effect::{Effect, PendingEffect};
use yuba_core::id::{AttemptId, RunId, SourceName};
use yuba_core::message::{AttemptNews, Cause, Message, Wake};
use yuba_core::record::{Key, dependants_partition};
use yuba_core::schedule::backoff;
use yuba_core::stack::Stack;
use yuba_core::time::{Span, Timestamp};
use yuba_core::token::{TokenUse, task_token};
use yuba_ports::records;
use yuba_ports::{LaunchOutcome, PortError, Ports, Remedy, StartTask, chain};

use crate::outputs::write_outputs;
use crate::trouble::{clear_trouble, note_trouble};
use crate::wake::wake_all;

/// What one try of an effect came to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Tried {
    Done,
    NotYet { wait: Span, why: String },
    Failed { why: String },
    GivenUp { why: String },
}

/// The first wait after an effect failed.
const FIRST_WAIT: Span = Span::seconds(2);

/// Tries what is due of a stack's outbox, in order; also a start that waits, where its room is the cause.
pub(crate) async fn act(ports: &Ports, stack: &Stack, cause: &Cause) -> Result<(), PortError> {
    let now = ports.clock.now();
    let mut tried = BTreeMap::new();
    let is_now = |pending: &&PendingEffect| pending.due <= now || has_room(pending, cause);
    for pending in stack.outbox.iter().filter(is_now).filter(|pending| !pending.given_up) {
        let outcome = try_effect(ports, stack, pending).await;
        debug!(stack = %stack.name, effect = %pending.key, ?outcome, "tried");
        tried.insert(pending.key.clone(), outcome);
    }
    if tried.is_empty() {
        return Ok(());
    }
    records::update::<Stack, _>(&*ports.store, &Key::stack(stack.id), |stack| strike(stack, &tried, now))
        .await?;
    Ok(())
}

/// Whether it is the start of the task that there is room for now.
fn has_room(pending: &PendingEffect, cause: &Cause) -> bool {
    match (&pending.effect, cause) {
        (Effect::StartTask { attempt }, Cause::Room { attempt: woken, .. }) => attempt == woken,
        _ => false,
    }
}

async fn try_effect(ports: &Ports, stack: &Stack, pending: &PendingEffect) -> Tried {
    let result = match &pending.effect {
        Effect::StartTask { attempt } => return start(ports, *attempt).await,
        Effect::KillTask { attempt } => ports.launcher.kill(*attempt).await,
        Effect::Publish { event } => ports.publisher.publish(event).await,
        Effect::WakeDependants { run } => wake_dependants(ports, stack, *run).await,
        Effect::NoteTrouble { signature } => own(note_trouble(ports, stack, signature).await),
        Effect::ClearTrouble { signature, run } => own(clear_trouble(ports, stack, signature, *run).await),
        Effect::StoreArtifact { attempt, source } => store_artifact(ports, *attempt, source).await,
        Effect::Reply { request } => {
            let reply = Message::new(Wake::Reply(*request), Cause::Request(*request));
            ports.queue.send(vec![reply]).await
        }
        Effect::WriteOutputs { attempt, secret, outputs } => {
            write_outputs(ports, stack.id, *attempt, secret, outputs).await
        }
    };
    result.map_or_else(|error| failed(&error), |()| Tried::Done)
}

/// What only Yuba's own records need is never given up: nobody else would do it, and a notice would stand for ever.
fn own(result: Result<(), PortError>) -> Result<(), PortError> {
    result.map_err(|error| match error.remedy {
        Remedy::Permanent => PortError { remedy: Remedy::Transient, ..error },
        Remedy::Wait(_) | Remedy::Transient => error,
    })
}

fn failed(error: &PortError) -> Tried {
    let why = chain(error);
    match error.remedy {
        Remedy::Permanent => Tried::GivenUp { why },
        Remedy::Wait(wait) => Tried::NotYet { wait, why },
        Remedy::Transient => Tried::Failed { why },
    }
}

async fn start(ports: &Ports, attempt: AttemptId) -> Tried {
    let token = task_token(ports.key.expose_secret().as_bytes(), TokenUse::Claim, attempt);
    match ports.launcher.start(StartTask { attempt, token: SecretString::from(token) }).await {
        Ok(LaunchOutcome::Started) => Tried::Done,
        Ok(LaunchOutcome::NoRoom(wait)) => {
            Tried::NotYet { wait, why: "no room for another task now".to_owned() }
        }
        Ok(LaunchOutcome::Waits { wait, why }) => Tried::NotYet { wait, why },
        Err(error) => failed(&error),
    }
}

async fn wake_dependants(ports: &Ports, stack: &Stack, run: RunId) -> Result<(), PortError> {
    let cause = Cause::Dependency { stack: stack.id, run };
    wake_all(ports, dependants_partition(&stack.name), &cause).await
}

/// Wakes the source, which looks the attempt's report up.
async fn store_artifact(ports: &Ports, attempt: AttemptId, source: &SourceName) -> Result<(), PortError> {
    let cause = Cause::Attempt { attempt, what: AttemptNews::WithoutCode };
    ports.queue.send(vec![Message::new(Wake::Source(source.clone()), cause)]).await
}

/// Strikes what was done, and gives the rest its next due time. Says whether anything changed.
fn strike(stack: &mut Stack, tried: &BTreeMap<String, Tried>, now: Timestamp) -> bool {
    let before = stack.clone();
    stack.outbox.retain(|pending| tried.get(&pending.key) != Some(&Tried::Done));
    for pending in &mut stack.outbox {
        match tried.get(&pending.key) {
            Some(Tried::NotYet { wait, why }) => {
                pending.due = now + *wait;
                pending.trouble = Some(why.clone());
            }
            Some(Tried::Failed { why }) => {
                pending.tries = pending.tries.saturating_add(1);
                pending.due = now + backoff(FIRST_WAIT, pending.tries);
                pending.trouble = Some(why.clone());
                warn!(stack = %stack.name, effect = %pending.key, tries = pending.tries, why, "an effect failed; it is tried again");
            }
            Some(Tried::GivenUp { why }) => {
                pending.given_up = true;
                pending.due = now;
                pending.trouble = Some(why.clone());
                warn!(stack = %stack.name, effect = %pending.key, why, "an effect was given up");
            }
            Some(Tried::Done) | None => {}
        }
    }
    let earliest = stack.outbox.iter().map(|pending| pending.due).min();
    stack.due = [stack.due.filter(|due| *due > now), earliest].into_iter().flatten().min().or(stack.due);
    *stack != before
}
