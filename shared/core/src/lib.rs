#![doc = include_str!("../README.md")]

pub mod id;
pub mod plan;
pub mod spec;
pub mod time;
