//! Streams that follow records as they change, by reading again: nothing here depends on who changes them.

pub(crate) mod events;
pub(crate) mod log;

use std::time::Duration;

/// How often a stream reads again while nothing comes.
const BETWEEN_READS: Duration = Duration::from_millis(300);
