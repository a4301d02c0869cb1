//! What follows where a message that was received could not be handled: the same on one machine and on AWS.

use yuba_core::time::Span;

use crate::error::Remedy;

/// How often a message is handled whose handler says that trying again cannot help. Then it becomes a dead letter, so that it
/// does not hold up all later ones of its group.
const MOST_RECEIVES: u32 = 8;

/// What follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It comes again once this has passed.
    Again(Span),
    /// It becomes a dead letter.
    SetAside,
}

impl Next {
    /// What follows for a message that was received so often, this time included. Only what trying again cannot mend is
    /// set aside; the rest comes again after a pause that doubles from a second to a minute, or as the error asks.
    pub fn after_failure(remedy: Remedy, receives: u32) -> Self {
        let doubling = Span::seconds(1_i64 << (receives.clamp(1, 7) - 1)).min(Span::minutes(1));
        match remedy {
            Remedy::Permanent if receives >= MOST_RECEIVES => Self::SetAside,
            Remedy::Wait(span) => Self::Again(span.max(Span::seconds(1))),
            Remedy::Permanent | Remedy::Transient => Self::Again(doubling),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_rests_longer_each_time_up_to_a_minute() {
        let after = |remedy, receives| Next::after_failure(remedy, receives);
        for (receives, seconds) in [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (50, 60)] {
            assert_eq!(after(Remedy::Transient, receives), Next::Again(Span::seconds(seconds)));
        }
        assert_eq!(after(Remedy::Wait(Span::minutes(9)), 1), Next::Again(Span::minutes(9)));
        assert_eq!(after(Remedy::Wait(Span::ZERO), 50), Next::Again(Span::seconds(1)));
    }

    #[test]
    fn only_what_trying_again_cannot_mend_is_set_aside() {
        assert_eq!(Next::after_failure(Remedy::Permanent, 7), Next::Again(Span::minutes(1)));
        assert_eq!(Next::after_failure(Remedy::Permanent, 8), Next::SetAside);
        assert_eq!(Next::after_failure(Remedy::Transient, 99), Next::Again(Span::minutes(1)));
    }
}
