//! The audit trail: who let what happen. Each stack has a chain of entries, and the installation has one for what
//! concerns all stacks; each entry holds the hash of the one before it. Anchors, a chain of their own, name the last
//! entries of all chains once a day.
//!
//! Nothing of it is ever changed or forgotten. Hashes need no key, so that anybody can check an export; whoever can write
//! all records could make all of them anew, and is found by an anchor's hash that was kept elsewhere.

mod anchor;
mod canonical;
mod entry;
mod verify;

pub use anchor::{AuditAnchor, anchors};
pub use entry::{AuditAction, AuditEntry, AuditHead, AuditOutcome, AuditedPlan, Deed};
pub use verify::{AuditLine, Broken, Verified, Verifier};

/// The partition of all entries, in the order of chain and number.
pub const AUDIT: &str = "audit";

/// The partition of all anchors, in the order of their numbers.
pub const AUDIT_ANCHORS: &str = "audit-anchors";

#[cfg(test)]
mod tests;
