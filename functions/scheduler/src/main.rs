//! The scheduler on AWS Lambda, called by a schedule once a minute.

use std::process::ExitCode;

use yuba_aws::lambda::{self, Metric, Metrics, Port, PortsSettings};
use yuba_aws::{Variables, connect};
use yuba_core::time::{Span, Timestamp};
use yuba_ports::{PortError, Ports};
use yuba_scheduler::{Sweep, tick, wake_unread};

fn main() -> ExitCode {
    lambda::run(serve())
}

async fn serve() -> Result<(), lambda::Error> {
    let mut variables = Variables::of_environment();
    let ports = PortsSettings::read(&mut variables, &[Port::Caps]);
    let manifests = lambda::manifests(&mut variables);
    let (ports, manifests) = variables.finish(ports.zip(manifests))?;

    let ports = ports.open(&connect().await).await?;
    let metrics = Metrics::new(&ports.installation, "scheduler");
    wake_unread(&ports, &manifests).await?;
    let sweep = Sweep::default();
    lambda::schedule(|| measured(&ports, &metrics, &sweep)).await
}

/// One tick; when the next has something to do.
async fn measured(ports: &Ports, metrics: &Metrics, sweep: &Sweep) -> Result<Option<Timestamp>, PortError> {
    let now = ports.clock.now();
    let ticked = tick(ports).await?;
    let waits = |since: Option<Timestamp>| since.map_or(Span::ZERO, |since| now.since(since));
    metrics.put(&[
        Metric::count("Woken", ticked.sent),
        Metric::time("OldestDueItem", waits(ticked.due_since)),
        Metric::time("OldestPendingEffect", waits(ticked.effects_since)),
    ]);
    sweep.once_a_minute(ports).await?;
    Ok(ticked.next_due)
}
