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
pub use simulation::{Caught, MOST_WORLDS, Outcome, SETTLES_WITHIN, Turn, catch, simulate, turns_of};
