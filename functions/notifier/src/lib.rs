#![doc = include_str!("../README.md")]

mod deliver;
mod handler;
mod notice;
mod reply;
mod service;
mod settings;
mod tell;

pub use handler::{Handled, handle};
pub use settings::{Buttons, NotifierSettings};
