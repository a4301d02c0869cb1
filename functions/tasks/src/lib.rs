#![doc = include_str!("../README.md")]

mod answer;
mod bearer;
mod claim;
mod heartbeat;
mod report;
mod router;
mod state;
mod values;

pub use router::router;
pub use state::{TaskSettings, TasksState};
