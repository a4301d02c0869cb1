//! What people read, made by pure functions: one module per command.

pub(crate) mod validate;
pub(crate) mod words;
