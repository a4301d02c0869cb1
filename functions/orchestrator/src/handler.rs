//! From a message to its effects: load, decide, commit, act.

use tracing::{debug, info};
use yuba_core::decide::{Moment, decide};
use yuba_core::id::{RunId, StackId};
use yuba_core::measured::Measured;
use yuba_core::message::{Message, Wake};
use yuba_ports::{Committed, PortError, Ports};

use crate::act::act;
use crate::commit::commit;
use crate::load::load;

/// How often a lost race is run again before the message is given back to the queue.
const MOST_RACES: usize = 20;

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handled {
    /// What happened, and why nothing did.
    pub report: Vec<String>,
    /// What ended, for metrics.
    pub measured: Measured,
}

/// Handles one message for a stack. An error means: not handled, deliver it again.
pub async fn handle(ports: &Ports, message: &Message) -> Result<Handled, PortError> {
    let Wake::Stack(stack) = &message.wake else {
        return Err(PortError::permanent(format!(
            "a message for {} reached the orchestrator",
            message.group()
        )));
    };
    for _ in 0..MOST_RACES {
        if let Some(handled) = Box::pin(try_once(ports, *stack, message)).await? {
            return Ok(handled);
        }
        debug!(%stack, "another writer came first; deciding again");
    }
    Err(PortError::transient(format!("stack {stack} is being changed too often by others")))
}

/// One round; `None` where another writer got in between.
async fn try_once(ports: &Ports, stack: StackId, message: &Message) -> Result<Option<Handled>, PortError> {
    let Some(loaded) = Box::pin(load(ports, stack, message)).await? else {
        let report = vec![format!("no record names stack {stack}")];
        return Ok(Some(Handled { report, measured: Measured::default() }));
    };
    let moment = Moment { now: ports.clock.now(), run: RunId(ports.ids.ulid()) };
    let decision = decide(loaded.records.clone(), message, moment);
    if commit(ports, &loaded, &decision).await? != Committed::Done {
        return Ok(None);
    }
    info!(stack = %decision.stack.name, report = %decision.report.join("; "), "decided");
    act(ports, &decision.stack, &message.cause).await?;
    let attempt = decision.attempts.iter().rev().chain(&loaded.records.attempt).next();
    let measured = Measured::ended(loaded.records.run.as_ref(), &decision.runs);
    Ok(Some(Handled { report: decision.report, measured: measured.with_silence(attempt, moment.now) }))
}
