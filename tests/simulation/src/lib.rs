#![doc = include_str!("../README.md")]

mod chance;
mod faults;
mod history;
mod mutation;
mod oracle;
mod people;
mod process;
mod runner;
mod serving;
mod shrink;
mod simulation;
mod world;

pub use history::{Entry, Keeping};
pub use mutation::Mutation;
pub use oracle::Violation;
pub use shrink::{Shrunk, shrink};
pub use simulation::{Outcome, SETTLES_WITHIN, Turn, simulate, turns_of};
