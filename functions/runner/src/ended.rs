//! How a step that does not go on ends: with a failure that can be reported, or because it was interrupted.

use std::io;
use std::path::Path;

use yuba_core::run::{Failure, FailureClass, LockHeld};

/// The most characters of a failure's detail.
const DETAIL_LIMIT: usize = 4000;

/// Why a step did not go on.
#[derive(Debug)]
pub(crate) enum Ended {
    /// It failed.
    Failed(Box<Failure>),
    /// It was interrupted and has ended; why stands in [`crate::interrupt::Interrupt`].
    Interrupted,
}

/// What a step gives.
pub(crate) type Step<T> = Result<T, Ended>;

impl Ended {
    /// A failure of one line.
    pub(crate) fn failed(class: FailureClass, message: impl Into<String>) -> Self {
        Self::Failed(Box::new(Failure {
            class,
            message: message.into(),
            detail: String::new(),
            lock: None,
            errored_state: false,
        }))
    }

    /// The configuration is wrong: only new input mends it.
    pub(crate) fn configuration(message: impl Into<String>) -> Self {
        Self::failed(FailureClass::Configuration, message)
    }

    /// Something that passes.
    pub(crate) fn transient(message: impl Into<String>) -> Self {
        Self::failed(FailureClass::Transient, message)
    }

    /// The machine refused: a full disk is named as such.
    pub(crate) fn io(action: &str, path: &Path, error: &io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "the disk is full".to_owned(),
            _ => error.to_string(),
        };
        Self::transient(format!("cannot {action} {}: {why}", path.display()))
    }

    /// The same failure with more lines beneath.
    #[must_use]
    pub(crate) fn with_detail(mut self, detail: &str) -> Self {
        if let Self::Failed(failure) = &mut self {
            detail.trim_end().clone_into(&mut failure.detail);
        }
        self
    }

    /// The same failure with the lock that stood in the way.
    #[must_use]
    pub(crate) fn with_lock(mut self, lock: Option<LockHeld>) -> Self {
        if let Self::Failed(failure) = &mut self {
            failure.lock = lock;
        }
        self
    }
}

/// A failure's detail, cut. It is masked before: half a secret is not recognised.
pub(crate) fn cut(detail: &str) -> String {
    if detail.chars().count() <= DETAIL_LIMIT {
        return detail.to_owned();
    }
    let mut kept: String = detail.chars().take(DETAIL_LIMIT - 1).collect();
    kept.push('…');
    kept
}
