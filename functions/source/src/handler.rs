//! The way in: a message wakes a source or a place of manifests.

use yuba_core::id::ManifestSetName;
use yuba_core::message::{Message, Wake};
use yuba_core::source::ManifestSetRecord;
use yuba_ports::records::Versioned;
use yuba_ports::{PortError, Ports};

use crate::report::Report;
use crate::settings::SourceSettings;
use crate::{look, manifests};

/// Handles one message. An error means that the message must come again; what is wrong with a repository or with
/// manifests is no error here: it stands in the record, with the time of the next look.
pub async fn handle(
    ports: &Ports,
    settings: &SourceSettings,
    message: &Message,
) -> Result<Report, PortError> {
    match &message.wake {
        Wake::Source(source) => look::look(ports, settings, source, &message.cause).await,
        Wake::Manifests(set) => manifests::take_over(ports, settings, set, &message.cause).await,
        Wake::Stack(stack) => {
            Err(PortError::permanent(format!("a message for stack {stack} came to the source function")))
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
