//! The API through its router, over ports in memory.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod audit;
mod kit;
mod malformed;
mod manifests;
mod plans;
mod providers;
mod queues;
mod recorded;
mod recovery;
mod requests;
mod secrets;
mod streams;
mod tokens;
mod whole;
