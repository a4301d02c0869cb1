//! Plans: what `show -json` says, reduced to what people and decisions need.
//!
//! [`summary`] holds the shapes; reading, digesting, redacting and rendering stand beside it.

pub mod summary;
