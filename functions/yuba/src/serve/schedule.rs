//! The scheduler's clock: ticks when something is known to be due, and at least each second, because a record that is
//! written meanwhile may be due earlier. An idle tick reads four index entries and the last anchor
//! of the audit trail.

use std::time::Duration;

use yuba_ports::{PortError, Ports, chain};
use yuba_scheduler::{Sweep, Ticked, tick};

use super::stopping::Stopping;

/// The longest pause between two ticks.
const LONGEST: Duration = Duration::from_secs(1);
/// The shortest.
const SHORTEST: Duration = Duration::from_millis(50);

/// Ticks until the server is asked to stop.
pub(crate) async fn tick_on(ports: Ports, stopping: Stopping) {
    let (mut failed_before, sweep) = (false, Sweep::default());
    while !stopping.is_asked() {
        let pause = match look(&ports, &sweep).await {
            Ok(ticked) => {
                failed_before = false;
                ticked.next_due.map_or(LONGEST, |due| due.since(ports.clock.now()).to_std())
            }
            Err(error) => {
                if !std::mem::replace(&mut failed_before, true) {
                    tracing::error!(error = chain(&error), "what is due cannot be found; trying on");
                }
                LONGEST
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause.clamp(SHORTEST, LONGEST)) => {}
            () = stopping.asked() => {}
        }
    }
}

async fn look(ports: &Ports, sweep: &Sweep) -> Result<Ticked, PortError> {
    let ticked = tick(ports).await?;
    sweep.once_a_minute(ports).await?;
    Ok(ticked)
}
