//! The orchestrator on AWS Lambda, fed by the queue of stacks.

use std::process::ExitCode;

use yuba_aws::lambda::{self, Metric, Metrics, Port, PortsSettings};
use yuba_aws::{Variables, connect};
use yuba_core::id::Phase;
use yuba_core::measured::Measured;
use yuba_core::message::Message;
use yuba_core::run::RunState;
use yuba_ports::{PortError, Ports, QueueName};

fn main() -> ExitCode {
    lambda::run(serve())
}

async fn serve() -> Result<(), lambda::Error> {
    let mut variables = Variables::of_environment();
    let wanted = [Port::Blobs, Port::Launcher, Port::Caps, Port::Publisher, Port::Secrets, Port::Key];
    let ports = PortsSettings::read(&mut variables, &wanted);
    let ports = variables.finish(ports)?;

    let (ports, work) = ports.open_for(&connect().await, QueueName::Stacks).await?;
    let metrics = Metrics::new(&ports.installation, "orchestrator");
    lambda::messages((&work, &metrics), 1, |messages| handle(&ports, &metrics, messages)).await
}

async fn handle(ports: &Ports, metrics: &Metrics, messages: Vec<Message>) -> Result<(), PortError> {
    for message in &messages {
        let handled = yuba_orchestrator::handle(ports, message).await?;
        // A line holds a name once.
        for metric in metrics_of(&handled.measured) {
            metrics.put(&[metric]);
        }
    }
    Ok(())
}

fn metrics_of(measured: &Measured) -> Vec<Metric> {
    let runs = measured.runs.iter().filter_map(|state| outcome(*state)).map(|name| Metric::count(name, 1));
    let phases = measured.phases.iter().map(|(phase, span)| match phase {
        Phase::Plan => Metric::time("PlanTime", *span),
        Phase::Apply => Metric::time("ApplyTime", *span),
    });
    let silent = measured.silence.map(|_| Metric::count("ClaimsWithoutReport", 1));
    runs.chain(phases).chain(silent).collect()
}

/// What counts runs that ended in a state.
fn outcome(state: RunState) -> Option<&'static str> {
    match state {
        RunState::Planned => Some("RunsPlanned"),
        RunState::Unchanged => Some("RunsUnchanged"),
        RunState::Applied => Some("RunsApplied"),
        RunState::Drifted => Some("RunsDrifted"),
        RunState::Failed => Some("RunsFailed"),
        RunState::Denied => Some("RunsDenied"),
        RunState::Discarded => Some("RunsDiscarded"),
        RunState::Cancelled => Some("RunsCancelled"),
        RunState::Superseded => Some("RunsSuperseded"),
        RunState::Queued
        | RunState::Planning
        | RunState::AwaitingApproval
        | RunState::AwaitingAdoption
        | RunState::Applying => None,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use yuba_core::time::Span;

    use super::*;

    #[test]
    fn every_outcome_has_a_name_of_its_own() {
        let outcomes: BTreeSet<&str> = RunState::ALL.into_iter().filter_map(outcome).collect();
        assert_eq!(outcomes.len(), RunState::ALL.into_iter().filter(|state| state.is_terminal()).count());
    }

    #[test]
    fn what_was_measured_becomes_metrics() {
        let measured = Measured {
            runs: vec![RunState::Applied],
            phases: vec![(Phase::Apply, Span::seconds(3))],
            silence: Some(Span::minutes(6)),
        };
        let expected = [
            Metric::count("RunsApplied", 1),
            Metric::time("ApplyTime", Span::seconds(3)),
            Metric::count("ClaimsWithoutReport", 1),
        ];
        assert_eq!(metrics_of(&measured), expected);
        assert_eq!(metrics_of(&Measured::default()), []);
    }
}
