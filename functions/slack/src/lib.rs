#![doc = include_str!("../README.md")]

mod answer;
mod command;
mod handler;
mod modal;
mod router;
mod settings;
mod signature;

pub use router::{Slack, router};
pub use settings::SlackSettings;
pub use signature::sign;
