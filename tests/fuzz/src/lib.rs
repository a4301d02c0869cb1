#![doc = include_str!("../README.md")]
#![expect(clippy::expect_used, reason = "a target that cannot be set up ends the test")]
#![expect(
    clippy::missing_panics_doc,
    reason = "each target panics where it finds a fault; the README says which"
)]

pub mod archive;
pub mod closure;
pub mod engine;
pub mod manifests;
pub mod plan;
pub mod signature;
pub mod tasks;
pub mod webhook;

mod head;
mod memory;
mod sections;
mod serve;

pub use memory::check;

/// What bytes from outside go through. It panics where they do what they must not.
pub type Target = fn(&[u8]);

/// All targets, by the name of their corpus.
pub const TARGETS: [(&str, Target); 8] = [
    ("archive", archive::target),
    ("closure", closure::target),
    ("engine", engine::target),
    ("manifests", manifests::target),
    ("plan", plan::target),
    ("signature", signature::target),
    ("tasks", tasks::target),
    ("webhook", webhook::target),
];
