//! Freezes: nothing of a stack that one covers is approved or applied while it is in force.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::requests::Refusal;
use crate::freeze::Frozen;
use crate::id::StackName;
use crate::run::{Run, Waiting};
use crate::schedule::LOOK_AGAIN;
use crate::time::{Span, Timestamp};

/// How often it is looked whether a freeze still stands that may be taken back at any time.
const TAKEN_BACK: Span = Span::minutes(10);

impl Draft {
    /// The freeze that holds the stack now.
    pub(super) fn frozen(&self) -> Option<Frozen> {
        self.with_labels(|stack, labels| Frozen::of(&self.freezes, stack, labels, self.now))
    }

    /// Refuses an approval while the stack is frozen: by which freeze, and until when.
    pub(super) fn refuse_frozen(&self) -> Result<(), Refusal> {
        self.frozen().map_or(Ok(()), |frozen| Err(Refusal(frozen.to_string())))
    }

    /// What an approved plan waits for during a freeze.
    pub(super) fn waits_for_thaw(&self) -> Option<Waiting> {
        self.frozen().map(|frozen| Waiting::Freeze { why: frozen.to_string(), until: frozen.until })
    }

    /// When what a freeze says of a waiting run changes.
    pub(super) fn due_of_freeze(&self, run: &Run) -> Option<Timestamp> {
        if self.freezes.is_empty() {
            return None;
        }
        let Some(frozen) = self.frozen() else {
            return self
                .with_labels(|stack, labels| Frozen::next_start(&self.freezes, stack, labels, self.now));
        };
        let looks = matches!(run.waits_for, Waiting::Freeze { .. }).then_some(self.now + TAKEN_BACK);
        let end = frozen.until.map(|until| until.max(self.now + LOOK_AGAIN));
        [looks, end].into_iter().flatten().min()
    }

    fn with_labels<T>(&self, then: impl Fn(&StackName, &BTreeMap<String, String>) -> T) -> T {
        match &self.definition {
            Some(definition) => then(&definition.name, &definition.spec.labels),
            None => then(&self.stack.name, &BTreeMap::new()),
        }
    }
}
