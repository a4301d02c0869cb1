//! The way in: a message tells of an event, wakes a provider, or has somebody answered.

use yuba_core::message::{Cause, Message, Wake};
use yuba_ports::{PortError, Ports};

use crate::settings::NotifierSettings;
use crate::{deliver, reply, tell};

/// What became of messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handled {
    /// What happened, and why nothing did.
    pub report: Vec<String>,
}

/// Handles messages that wake the same. An error means that they must come again; what a provider does not take is no
/// error here: it stands in the records, with the time of the next try.
pub async fn handle(
    ports: &Ports,
    settings: &NotifierSettings,
    messages: &[Message],
) -> Result<Handled, PortError> {
    let Some(Message { wake, .. }) = messages.first() else { return Ok(Handled::default()) };
    if let Some(other) = messages.iter().find(|other| other.wake != *wake) {
        return Err(PortError::permanent(format!("a message for {} came among others", other.group())));
    }
    let causes: Vec<&Cause> = messages.iter().map(|message| &message.cause).collect();
    let report = match wake {
        Wake::Events(_) => told(ports, &causes).await?,
        Wake::Provider(name) => deliver::pending(ports, settings, name, &causes).await?,
        Wake::Reply(request) => reply::answer(ports, settings, *request).await?,
        Wake::Stack(_) | Wake::Source(_) | Wake::Manifests(_) => {
            return Err(PortError::permanent(format!("a message to wake {wake:?} reached the notifier")));
        }
    };
    Ok(Handled { report })
}

/// Events of a stack, in the order in which they were published.
async fn told(ports: &Ports, causes: &[&Cause]) -> Result<Vec<String>, PortError> {
    let mut report = Vec::new();
    for cause in causes {
        let Cause::Event { stack, number } = cause else {
            return Err(PortError::permanent(format!("a message tells of no event, but of {cause:?}")));
        };
        report.extend(tell::event(ports, *stack, *number).await?);
    }
    Ok(report)
}
