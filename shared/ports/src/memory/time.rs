//! Time and ids that a test owns.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use ulid::Ulid;
use yuba_core::time::{Span, Timestamp};

use super::lock;
use crate::{Clock, Ids};

/// 2026-01-01T00:00:00Z.
const BEGIN: i64 = 1_767_225_600_000;

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct MemoryClock(AtomicI64);

impl Default for MemoryClock {
    /// A clock at 2026-01-01T00:00:00Z.
    fn default() -> Self {
        Self(AtomicI64::new(BEGIN))
    }
}

impl MemoryClock {
    /// Moves on.
    pub fn advance(&self, span: Span) {
        self.0.fetch_add(span.0, Ordering::SeqCst);
    }

    /// Moves to a point, backwards too.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.0, Ordering::SeqCst);
    }
}

impl Clock for MemoryClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

/// Ids of the clock's time and a count: the same test gives the same ids.
#[derive(Debug)]
pub struct MemoryIds {
    clock: Arc<MemoryClock>,
    last: Mutex<(u64, u128)>,
}

impl MemoryIds {
    /// Ids by a clock, counted from 1.
    pub fn new(clock: Arc<MemoryClock>) -> Self {
        Self { clock, last: Mutex::new((0, 0)) }
    }
}

impl Ids for MemoryIds {
    fn ulid(&self) -> Ulid {
        let mut last = lock(&self.last);
        let millis = u64::try_from(self.clock.now().0).unwrap_or(0).max(last.0);
        *last = (millis, last.1 + 1);
        Ulid::from_parts(last.0, last.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_ids_sort_later_whatever_the_clock_does() {
        let clock = Arc::new(MemoryClock::default());
        let ids = MemoryIds::new(clock.clone());
        let first = ids.ulid();
        clock.advance(Span::seconds(1));
        let second = ids.ulid();
        clock.set(Timestamp(0));
        assert!(first < second && second < ids.ulid());
    }
}
