#![doc = include_str!("../README.md")]

mod slot;
mod tick;

pub use tick::{Ticked, tick};
