#![doc = include_str!("../README.md")]

mod access;
mod answer;
mod bearer;
mod claim;
mod credentials;
mod directory;
mod heartbeat;
mod report;
mod router;
mod state;
mod stopped;
mod values;

pub use directory::ObjectsDirectory;
pub use router::router;
pub use state::{TaskSettings, TasksState};
pub use stopped::stopped;
