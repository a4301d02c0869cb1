//! The ports on AWS keep the ports' contracts, shown on an emulator; and what is particular to each.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test's helper fails the test"
)]

mod blobs;
mod contract;
mod credentials;
mod emulator;
mod launcher;
mod publisher;
mod script;
mod secrets;
mod store;
