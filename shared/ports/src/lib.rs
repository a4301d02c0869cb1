#![doc = include_str!("../README.md")]

mod again;
pub mod around;
mod blobs;
pub mod bots;
mod clock;
#[cfg(feature = "contract")]
pub mod contract;
mod credentials;
mod error;
pub mod explained;
mod http;
mod launcher;
mod limited;
pub mod memory;
mod objects;
mod ports;
mod publisher;
mod queue;
pub mod records;
mod secrets;
mod store;

pub use again::Next;
pub use blobs::{Blobs, PutMode, PutOutcome, check_key};
pub use clock::{Clock, Ids};
pub use credentials::{Assumed, Credentials, RoleSession};
pub use error::{PortError, Remedy, chain};
pub use http::{AccessKeys, Http, HttpAnswer, HttpRequest, NoAnswer, Signing};
pub use launcher::{LaunchOutcome, Launcher, StartTask, TaskStatus};
pub use limited::limited;
pub use objects::ObjectGrants;
pub use ports::Ports;
pub use publisher::Publisher;
pub use queue::{DeadLetter, Queue, QueueName, Received};
pub use secrets::{SecretValues, Secrets};
pub use store::{
    Committed, Cursor, Expected, Item, MOST_WRITES, NotACursor, Order, Page, Query, Store, Write,
};
