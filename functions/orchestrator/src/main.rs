//! The orchestrator on AWS Lambda, fed by the queue of stacks.

use std::process::ExitCode;

use yuba_aws::lambda::{self, Metrics, Port, PortsSettings};
use yuba_aws::{Variables, connect};
use yuba_core::message::Message;
use yuba_ports::{PortError, Ports};

fn main() -> ExitCode {
    lambda::run(serve())
}

async fn serve() -> Result<(), lambda::Error> {
    let mut variables = Variables::of_environment();
    let wanted = [Port::Blobs, Port::Launcher, Port::Publisher, Port::Secrets, Port::Key];
    let ports = PortsSettings::read(&mut variables, &wanted);
    let ports = variables.finish(ports)?;

    let ports = ports.open(&connect().await).await?;
    let metrics = Metrics::new(&ports.installation, "orchestrator");
    lambda::messages(&metrics, 1, |messages| handle(&ports, messages)).await
}

async fn handle(ports: &Ports, messages: Vec<Message>) -> Result<(), PortError> {
    for message in &messages {
        yuba_orchestrator::handle(ports, message).await?;
    }
    Ok(())
}
