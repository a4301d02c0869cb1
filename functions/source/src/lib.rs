#![doc = include_str!("../README.md")]

mod backoff;
mod blocking;
mod git;
mod handler;
mod look;
mod manifests;
mod outcome;
mod report;
mod settings;
mod states;
mod stored;
mod why;

pub use backoff::{Mend, Trouble};
pub use git::{Checkout, Git, SeenClosure, Work, Worked};
pub use handler::{configure, handle};
pub use report::Report;
pub use settings::SourceSettings;
pub use why::{WhyError, why};
