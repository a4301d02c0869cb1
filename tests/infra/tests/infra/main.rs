//! What `infra/` deploys, seen in real plans of its examples.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test's helper fails the test"
)]

mod code;
mod examples;
mod functions;
mod image;
mod kit;
mod policies;
mod stand_in;
mod stores;
