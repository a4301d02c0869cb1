//! Manifests as they are written: one type per kind, from which the reader, its messages, the JSON Schema and the
//! reference in `docs/manifests.md` are all made. A field's docstring is what people read about it.
//!
//! Fields that do not work yet have types too, so that a mistake in them is found today.

pub mod approval;
pub mod freeze;
pub mod kube;
pub mod notification;
pub mod runner_pod;
pub mod source;
pub mod stack;
pub mod stack_parts;
pub mod team;
