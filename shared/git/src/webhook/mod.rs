//! What Git hosts send: checked over the raw bytes first, read after that.
//!
//! Invariants: nothing is parsed that has not been verified ([`Verified`] is the proof), comparison takes the same time
//! whatever differs, and no text, however broken, makes a panic. An event that Yuba does not act on is
//! [`Notice::Ignored`] with its reason.

mod address;
mod parse;
mod verify;

pub use address::RepositoryAddress;
pub use parse::{HeadCommit, Notice, ParseError, Push, RefChange, Repositories, parse};
pub use verify::{Scheme, Unverified, Verified, sign, verify};
