//! The way in: messages wake a source or a place of manifests.

use yuba_core::id::ManifestSetName;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::source::ManifestSetRecord;
use yuba_ports::records::Versioned;
use yuba_ports::{PortError, Ports};

use crate::report::Report;
use crate::settings::SourceSettings;
use crate::{look, manifests};

/// Handles messages of one group: one look serves all of them, because it begins after they were received. Reports of it,
/// and of each attempt that lacked its code. An error means that all must come again; what is wrong with a
/// repository or with manifests is no error here: it stands in the record, with the time of the next look.
pub async fn handle(
    ports: &Ports,
    settings: &SourceSettings,
    messages: &[Message],
) -> Result<Vec<Report>, PortError> {
    let Some(Message { wake, .. }) = messages.first() else { return Ok(Vec::new()) };
    if let Some(other) = messages.iter().find(|other| other.wake != *wake) {
        return Err(PortError::permanent(format!("a message for {} came among others", other.group())));
    }
    let causes: Vec<&Cause> = messages.iter().map(|message| &message.cause).collect();
    match wake {
        Wake::Source(source) => look::look(ports, settings, source, &causes).await,
        Wake::Manifests(set) => Ok(vec![manifests::take_over(ports, settings, set, &causes).await?]),
        Wake::Stack(_) | Wake::Events(_) | Wake::Provider(_) | Wake::Reply(_) => {
            Err(PortError::permanent(format!("a message to wake {wake:?} came to the source function")))
        }
    }
}

/// Makes the records of configured places of manifests that have none yet, due at once. Called when a server starts.
pub async fn configure(ports: &Ports, sets: &[ManifestSetName]) -> Result<(), PortError> {
    for set in sets {
        let record = ManifestSetRecord { due: Some(ports.clock.now()), ..manifests::unread(set) };
        // A conflict says that there is a record already: it has a due time of its own.
        ports.store.commit(vec![Versioned::new(record).put()?]).await?;
    }
    Ok(())
}
