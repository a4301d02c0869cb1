//! Work that blocks (Git, files, packing) runs on threads of its own.

use yuba_ports::PortError;

/// Runs blocking work; a thread that broke off is a passing error.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, PortError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| PortError::transient("work with Git was broken off").because(error))
}
