#![doc = include_str!("../README.md")]

mod blobs;
mod database;
mod queue;
mod store;

pub use blobs::LocalBlobs;
pub use database::{Database, OpenDatabaseError};
pub use queue::LocalQueue;
pub use store::LocalStore;
