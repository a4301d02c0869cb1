#![doc = include_str!("../README.md")]
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a test's world fails the test"
)]

mod program;
mod repository;
mod server;
mod state_backend;
mod tasks;
mod world;

pub use program::{Ran, run, yuba};
pub use repository::Repository;
pub use server::{Server, post_as_slack};
pub use state_backend::{Refuses, StateBackend};
pub use tasks::Task;
pub use world::{World, open_to_all};
