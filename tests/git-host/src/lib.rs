#![doc = include_str!("../README.md")]
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a test's host fails the test"
)]

mod http;
mod ssh;

pub use http::GitServer;
pub use ssh::SshServer;
