//! Serves a schedule that calls once a minute: ticks, and ticks again where something is due before the next call.

use std::time::Duration;

use lambda_http::lambda_runtime;
use lambda_http::{LambdaEvent, service_fn};
use serde::de::IgnoredAny;
use tokio::time::{Instant, sleep};
use yuba_core::time::{Span, Timestamp};
use yuba_ports::{Clock, PortError, chain};

use super::Error;
use super::clock::SystemClock;
use super::time_left::until;

/// How long one call goes on at most: the next comes a minute after it began.
const LONGEST: Duration = Duration::from_secs(55);
/// The shortest pause between two ticks.
const SHORTEST: Span = Span::seconds(1);
/// What a tick may take: none begins with less time left.
const A_TICK: Duration = Duration::from_secs(5);

/// Ticks whenever the schedule calls. A tick says when the next has something to do; an error ends the call, and what is
/// still due is found by the next one.
pub async fn schedule<F>(tick: impl Fn() -> F) -> Result<(), Error>
where
    F: Future<Output = Result<Option<Timestamp>, PortError>>,
{
    lambda_runtime::run(service_fn(async |event: LambdaEvent<IgnoredAny>| {
        let last = until(&event.context).checked_sub(A_TICK).unwrap_or_else(Instant::now);
        let ticked = tick_on(last.min(Instant::now() + LONGEST), &tick).await;
        ticked.inspect_err(|error| tracing::error!(error = chain(error), "what is due cannot be found"))?;
        Ok::<_, Error>(())
    }))
    .await
}

async fn tick_on<F>(last: Instant, tick: impl Fn() -> F) -> Result<(), PortError>
where
    F: Future<Output = Result<Option<Timestamp>, PortError>>,
{
    loop {
        let next = tick().await?;
        match pause(next, SystemClock.now(), last.saturating_duration_since(Instant::now())) {
            Some(pause) => sleep(pause).await,
            None => return Ok(()),
        }
    }
}

/// How long to wait for the next tick; `None` where it is left to the next call.
fn pause(next: Option<Timestamp>, now: Timestamp, left: Duration) -> Option<Duration> {
    let pause = next?.since(now).max(SHORTEST).to_std();
    (pause < left).then_some(pause)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_is_due_before_the_next_call_is_waited_for() {
        let (now, left) = (Timestamp(1_000_000), Duration::from_secs(50));
        let next = |millis| Some(now + Span(millis));
        assert_eq!(pause(None, now, left), None);
        assert_eq!(pause(next(20_000), now, left), Some(Duration::from_secs(20)));
        assert_eq!(
            pause(next(-20_000), now, left),
            Some(Duration::from_secs(1)),
            "what is due is handled meanwhile"
        );
        assert_eq!(pause(next(50_000), now, left), None);
        assert_eq!(pause(next(0), now, Duration::ZERO), None);
    }

    #[tokio::test]
    async fn a_call_ticks_once_where_time_is_up_and_ends_with_an_error() {
        let ticks = Cell::new(0);
        let always_due = async || {
            ticks.set(ticks.get() + 1);
            Ok(Some(Timestamp(0)))
        };
        tick_on(Instant::now(), always_due).await.unwrap();
        assert_eq!(ticks.get(), 1);
        let failing = async || Err(PortError::transient("no"));
        tick_on(Instant::now() + LONGEST, failing).await.unwrap_err();
    }
}
