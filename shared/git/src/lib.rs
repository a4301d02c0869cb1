#![doc = include_str!("../README.md")]

pub mod artifact;
pub mod closure;
pub mod fetch;
pub mod history;
pub mod root_module;
pub mod webhook;

mod repository;
mod tree;

pub use gix::ObjectId;
pub use repository::{Commit, Person, ReadError, Repository};
