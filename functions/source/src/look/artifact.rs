//! The artifact of a revision: its whole tree, packed once, stored under its tree id before any stack is woken for it.

use yuba_core::job::artifact_object;
use yuba_git::fetch::Fetched;
use yuba_ports::{PortError, Ports, PutMode};

use super::checkout;

/// Makes sure that the tree's artifact lies there. What cannot be packed is refused with the reason.
pub(super) async fn store(ports: &Ports, fetched: &Fetched) -> Result<Result<(), String>, PortError> {
    let object = artifact_object(&fetched.tree);
    if ports.blobs.exists(&object).await? {
        return Ok(Ok(()));
    }
    match checkout::pack(fetched).await? {
        Ok(packed) => {
            ports.blobs.put_file(&object, packed.path(), PutMode::CreateOnly).await?;
            Ok(Ok(()))
        }
        Err(refused) => Ok(Err(refused)),
    }
}
