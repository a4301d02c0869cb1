//! The source function on AWS Lambda, fed by the queue of sources.

use std::process::ExitCode;

use yuba_aws::lambda::{self, Metrics, Port, PortsSettings};
use yuba_aws::{Variables, connect};
use yuba_core::id::SecretName;
use yuba_core::message::Message;
use yuba_core::time::Span;
use yuba_ports::{PortError, Ports, QueueName};
use yuba_source::{SourceSettings, configure};

/// Git's caches, in the one place where a function may write. It outlives a call, not the environment: losing it costs a
/// fetch.
const CACHE: &str = "yuba-git";

fn main() -> ExitCode {
    lambda::run(serve())
}

async fn serve() -> Result<(), lambda::Error> {
    let mut variables = Variables::of_environment();
    let ports = PortsSettings::read(&mut variables, &[Port::Blobs, Port::Secrets]);
    let settings = source_settings(&mut variables);
    let (ports, settings) = variables.finish(ports.zip(settings))?;

    let (ports, work) = ports.open_for(&connect().await, QueueName::Sources).await?;
    let metrics = Metrics::new(&ports.installation, "source");
    configure(&ports, &settings.manifests).await?;
    lambda::messages((&work, &metrics), usize::MAX, |messages| handle(&ports, &settings, messages)).await
}

/// Reads `YUBA_MANIFESTS` and, if set, `YUBA_MANIFESTS_INTERVAL` and `YUBA_MANIFESTS_SECRET`.
fn source_settings(variables: &mut Variables) -> Option<SourceSettings> {
    let usual = SourceSettings::new(std::env::temp_dir().join(CACHE));
    let manifests = lambda::manifests(variables);
    let interval = "how often manifests are looked at, `5m`";
    let interval = variables.optional("YUBA_MANIFESTS_INTERVAL", interval, str::parse::<Span>);
    let secret = "the secret with the credentials for manifests in Git, `<namespace>/<name>`";
    let secret = variables.optional("YUBA_MANIFESTS_SECRET", secret, str::parse::<SecretName>);
    Some(SourceSettings {
        manifests: manifests?,
        manifests_interval: interval.unwrap_or(usual.manifests_interval),
        manifests_secret: secret,
        ..usual
    })
}

async fn handle(ports: &Ports, settings: &SourceSettings, messages: Vec<Message>) -> Result<(), PortError> {
    for report in yuba_source::handle(ports, settings, &messages).await? {
        tracing::info!(%report, "looked");
    }
    Ok(())
}
