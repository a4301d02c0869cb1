//! Every port in memory, for tests: time stands still unless it is moved, ids are counted, and what went out is kept
//! to be looked at. Nothing here waits, and nothing is lost but with the world itself.

mod blobs;
mod launcher;
mod outside;
mod queue;
mod secrets;
mod store;
mod time;
mod world;

pub use blobs::MemoryBlobs;
pub use launcher::MemoryLauncher;
pub use outside::{MemoryCredentials, MemoryPublisher};
pub use queue::MemoryQueue;
pub use secrets::MemorySecrets;
pub use store::MemoryStore;
pub use time::{MemoryClock, MemoryIds};
pub use world::MemoryWorld;

/// Locks a mutex; a test that panicked elsewhere does not take this one down with it.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
