//! Manifests: YAML documents in the shape of Kubernetes resources, read into sources and stacks.
//!
//! [`read_set`] takes the texts of all files at once and never fails: what is wrong is a [`Finding`] with its place, the
//! faulty document is held back with whatever refers to it, and the rest can be used. Nothing here reads a file.

mod approval;
mod backend;
mod check;
mod checks;
mod code;
mod document;
mod engine;
mod fields;
mod finding;
mod format;
mod freeze;
mod helm;
mod in_code;
mod kinds;
mod lines;
mod messages;
mod name;
mod notification;
mod parse;
mod reference;
mod references;
mod report;
mod scalar;
mod schema;
mod set;
mod source;
mod stack;
mod team;
pub mod wire;
mod yaml;

pub use backend::read_backend;
pub use finding::{Finding, Place, Severity, render};
pub use in_code::{backend_in_code, each_object};
pub use name::is_manifest_path;
pub use reference::reference;
pub use schema::{KindSchema, schemas};
pub use set::{
    ConfigMapManifest, DeclaredManifest, HeldBack, ManifestFile, ManifestSet, SourceManifest, StackManifest,
    TeamManifest, read_set,
};
