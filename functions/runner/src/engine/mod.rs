//! The engine: OpenTofu or Terraform. [`dialect`] holds what differs between the two.

pub(crate) mod command;
mod constraint;
pub(crate) mod dialect;
pub(crate) mod find;
pub(crate) mod messages;

pub(crate) use command::{Exit, Place};
pub(crate) use find::Found;
pub(crate) use messages::{Diagnostic, Message};
