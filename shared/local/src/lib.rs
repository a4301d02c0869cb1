#![doc = include_str!("../README.md")]

mod blobs;
mod database;
mod key;
mod launcher;
mod open;
mod outside;
mod private;
mod queue;
mod secrets;
mod states;
mod store;

pub use blobs::LocalBlobs;
pub use database::{Database, OpenDatabaseError};
pub use launcher::{LauncherSettings, LocalLauncher};
pub use open::{LocalHandles, LocalPaths, LocalSettings, OpenError, open};
pub use outside::{AmbientCredentials, LocalIds, StorePublisher, SystemClock};
pub use queue::LocalQueue;
pub use secrets::LocalSecrets;
pub use store::LocalStore;
