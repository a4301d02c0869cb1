#![doc = include_str!("../README.md")]

mod anchor;
mod first;
mod prune;
mod slot;
mod sweep;
mod tick;

pub use first::wake_unread;
pub use sweep::Sweep;
pub use tick::{Ticked, tick};
