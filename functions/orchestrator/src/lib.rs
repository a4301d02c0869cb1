#![doc = include_str!("../README.md")]

mod act;
mod commit;
mod handler;
mod load;
mod outputs;
mod trouble;
mod wake;

pub use handler::{Handled, handle};
