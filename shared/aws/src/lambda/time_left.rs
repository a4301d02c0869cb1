//! How long a call may go on. Lambda ends the process of one that takes longer, whatever it does.

use std::time::Duration;

use lambda_http::Context;
use tokio::time::Instant;
use yuba_core::time::Timestamp;
use yuba_ports::Clock;

use super::clock::SystemClock;

/// What is left for the answer.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Until when a call may work.
pub(super) fn until(context: &Context) -> Instant {
    let deadline = Timestamp(i64::try_from(context.deadline).unwrap_or(i64::MAX));
    Instant::now() + deadline.since(SystemClock.now()).to_std().saturating_sub(LAST_WORDS)
}
