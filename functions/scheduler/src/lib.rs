#![doc = include_str!("../README.md")]

mod first;
mod prune;
mod slot;
mod tick;

pub use first::wake_unread;
pub use tick::{Ticked, tick};
