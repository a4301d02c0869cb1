//! Time and ids of a function: the machine's.

use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use ulid::{Generator, Ulid};
use yuba_core::time::Timestamp;
use yuba_ports::{Clock, Ids};

/// The system's clock, which AWS keeps.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "this is the `Clock` port")]
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// Random ids that sort by time, and within a millisecond of one environment by the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct RandomIds(Mutex<Generator>);

impl Ids for RandomIds {
    fn ulid(&self) -> Ulid {
        let mut generator = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match generator.generate() {
            Ok(id) => id,
            Err(overflow) => overflow.commit_overflow_increment(),
        }
    }
}
