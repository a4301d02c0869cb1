//! The engine: OpenTofu or Terraform. [`yuba_core::dialect`] holds what differs between the two.

pub(crate) mod command;
mod constraint;
pub(crate) mod descendants;
pub(crate) mod find;
pub(crate) mod text;

pub(crate) use command::{Exit, Manner, Place};
pub(crate) use find::Found;

/// Whether a version fulfils a constraint; `None` where the constraint cannot be read.
pub(crate) fn fits(constraint: &str, version: &str) -> Option<bool> {
    constraint.parse::<constraint::Constraint>().ok().map(|constraint| constraint.allows(version))
}
