//! The artifact of a revision: its whole tree, packed once, stored under its tree id before any stack is woken for it.

use yuba_core::job::artifact_object;
use yuba_ports::{PortError, Ports};

use crate::git::Checkout;

/// Makes sure that the tree's artifact lies there.
pub(super) async fn store(ports: &Ports, fetched: &dyn Checkout) -> Result<(), PortError> {
    let object = artifact_object(fetched.tree());
    if ports.blobs.exists(&object).await? {
        return Ok(());
    }
    fetched.store(ports.blobs.as_ref(), &object).await
}
