//! Trouble that many stacks have at once. When the same error stops ten stacks, each retrying on its own would only add
//! to it: one of them goes on trying, the rest wait behind it, and it gives notice for all. That one is the first by id of
//! those that have the error and try again by themselves; whoever joins before it takes its place.
//!
//! The trouble ends when a run of one of them goes well, or fails of something else. Notice is given once in between: what
//! says so is a record of its own, which the decision that gives it creates and the end removes.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::id::{StackId, StackName};
use crate::record::{Key, Record};
use crate::run::Failure;
use crate::source::Definition;
use crate::stack::{Retry, Stack};
use crate::time::Timestamp;

/// So many stacks with one error make it one trouble.
pub const MANY: usize = 10;

/// What is known of the trouble that a stack's last failure belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trouble {
    /// How many stacks have it; counted up to [`MANY`].
    pub stacks: usize,
    /// Whether this stack is the one that goes on trying.
    pub probes: bool,
    /// Whether notice of it was given.
    pub noticed: bool,
}

/// Notice of a trouble was given. Written in the commit of the decision that gives it, and only where there is none: of
/// two that would give it at once, one decides again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TroubleNotice {
    /// The trouble.
    pub signature: String,
    /// The stack that gave it.
    pub stack: StackId,
    /// When.
    pub at: Timestamp,
}

impl Record for TroubleNotice {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::trouble_notice(&self.signature)
    }
}

impl Trouble {
    /// Whether the stack waits behind another.
    pub fn holds_back(self) -> bool {
        self.stacks >= MANY && !self.probes
    }
}

/// Whether a stack will try again by itself what failed with this error. One that does not is not waited for.
pub fn tries_again(stack: &Stack, definition: &Definition, signature: &str) -> bool {
    let retries = |retry: &Retry| retry.due.is_some() && retry.signature == signature;
    stack.retry.as_ref().is_some_and(retries)
        && stack.suspended.is_none()
        && !definition.spec.suspend
        && definition.vanished.is_none()
}

/// Names an error: equal for stacks that fail of the same cause. Numbers and the stack's own name do not count.
pub fn signature(failure: &Failure, stack: &StackName) -> String {
    let plain: String = failure
        .message
        .replace(&stack.name, "")
        .chars()
        .filter(|letter| !letter.is_ascii_digit())
        .flat_map(char::to_lowercase)
        .collect();
    let digest = Sha256::digest(format!("{:?} {plain}", failure.class));
    hex::encode(digest).chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::FailureClass;

    fn signature_of(stack: &str, message: &str) -> String {
        let (class, message) = (FailureClass::Transient, message.to_owned());
        let failure = Failure { class, message, detail: String::new(), lock: None, errored_state: false };
        signature(&failure, &StackName::new("infra", stack))
    }

    #[test]
    fn one_cause_has_one_signature_whatever_stack_and_number() {
        let dns = signature_of("dns", "dial tcp 10.0.0.1:443: i/o timeout (dns)");
        assert_eq!(dns, signature_of("vpc", "dial tcp 10.0.0.77:443: i/o timeout (vpc)"));
        assert_ne!(dns, signature_of("dns", "no such host (dns)"));
    }
}
