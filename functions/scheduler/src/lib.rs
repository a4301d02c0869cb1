#![doc = include_str!("../README.md")]

mod prune;
mod slot;
mod tick;

pub use tick::{Ticked, tick};
