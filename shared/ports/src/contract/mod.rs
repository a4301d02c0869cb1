//! What every implementation of a port must do: one suite for each, to be called from a test of the implementation.
//! A suite panics where the implementation breaks the contract.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "suites are tests")]
#![expect(clippy::missing_panics_doc, reason = "every suite panics where the contract is broken")]

mod blobs;
mod launcher;
mod queue;
mod secrets;
mod store;
mod store_lists;

pub use blobs::blobs;
pub use launcher::{AsyncEnd, LauncherFixture, attempt, launcher};
pub use queue::{QueueFixture, queue};
pub use secrets::secrets;
pub use store::store;
