//! The commands: one module each; every one takes its arguments and gives a [`crate::done::Done`].

pub(crate) mod drift_local;
pub(crate) mod manifest_files;
pub(crate) mod push_hook;
pub(crate) mod runner;
pub(crate) mod serve;
pub(crate) mod try_repository;
pub(crate) mod validate;
