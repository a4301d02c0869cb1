//! The verbs that need no server, through the real binary.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod drift_local;
mod kit;
mod push_hook;
mod try_repository;
mod validate;
