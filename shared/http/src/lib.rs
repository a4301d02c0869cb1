#![doc = include_str!("../README.md")]

mod client;
mod public;
mod sigv4;

pub use client::{NoClient, PrivateAddresses, WebClient};
pub use public::is_public;
pub use sigv4::access_keys;
