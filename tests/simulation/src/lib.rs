#![doc = include_str!("../README.md")]

mod chance;
mod chart;
mod faults;
mod former;
mod history;
mod lane;
mod mutation;
mod oracle;
mod outcome;
mod people;
mod planting;
mod process;
mod runner;
mod serving;
mod shrink;
mod simulation;
mod world;

pub use chart::chart;
pub use history::{Arrow, Entry, Keeping, Mark, Sign};
pub use lane::Lane;
pub use mutation::Mutation;
pub use oracle::Violation;
pub use outcome::{Outcome, Turn};
pub use planting::{Caught, MOST_WORLDS, catch};
pub use shrink::{Shrunk, shrink};
pub use simulation::{SETTLES_WITHIN, simulate, turns_of};
