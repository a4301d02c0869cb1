#![doc = include_str!("../README.md")]

mod client;
mod public;

pub use client::{NoClient, PrivateAddresses, WebClient};
pub use public::is_public;
