//! Wakes places of manifests that nobody has looked at yet. Where functions start only when there is a message for them,
//! nothing else would start the one that makes their records.

use yuba_core::id::ManifestSetName;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::Key;
use yuba_ports::{PortError, Ports};

/// Wakes those of the configured places of manifests that have no record. Called when the scheduler starts.
pub async fn wake_unread(ports: &Ports, sets: &[ManifestSetName]) -> Result<(), PortError> {
    for set in sets {
        if ports.store.get(&Key::manifest_set(set)).await?.is_none() {
            let cause = Cause::Due { slot: ports.clock.now() };
            ports.queue.send(vec![Message::new(Wake::Manifests(set.clone()), cause)]).await?;
        }
    }
    Ok(())
}
