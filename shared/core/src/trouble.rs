//! Trouble that many stacks have at once. When the same error stops ten stacks, each retrying on its own would only add
//! to it: one of them goes on trying, the rest wait behind it, and it gives notice for all. That one is the first by id of
//! those that have the error; whoever joins before it takes its place, and gives notice again.

use sha2::{Digest, Sha256};

use crate::id::StackName;
use crate::run::Failure;

/// So many stacks with one error make it one trouble.
pub const MANY: usize = 10;

/// What is known of the trouble that a stack's last failure belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trouble {
    /// How many stacks have it; counted up to [`MANY`].
    pub stacks: usize,
    /// Whether this stack is the one that goes on trying.
    pub probes: bool,
}

impl Trouble {
    /// Whether the stack waits behind another.
    pub fn holds_back(self) -> bool {
        self.stacks >= MANY && !self.probes
    }
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
