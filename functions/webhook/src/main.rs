//! The webhook function on AWS Lambda, behind a Function URL.

use std::process::ExitCode;

use yuba_aws::lambda::{self, Metrics, OwnSecret, PortsSettings};
use yuba_aws::{Variables, connect};
use yuba_webhook::{Webhook, WebhookSettings, router};

fn main() -> ExitCode {
    lambda::run(serve())
}

async fn serve() -> Result<(), lambda::Error> {
    let mut variables = Variables::of_environment();
    let ports = PortsSettings::read(&mut variables, &[]);
    let secrets = "the SSM parameter that holds the secrets that webhooks are signed with, one on each line";
    let secrets = OwnSecret::read(&mut variables, "YUBA_WEBHOOK_SECRETS", secrets);
    let manifests = lambda::manifests(&mut variables);
    let ((ports, secrets), manifests) = variables.finish(ports.zip(secrets).zip(manifests))?;

    let config = connect().await;
    let secrets = secrets.lines(&config).await?;
    let ports = ports.open(&config).await?;
    let metrics = Metrics::new(&ports.installation, "webhook");
    let settings = WebhookSettings { github: secrets.clone(), generic: secrets, manifests };
    lambda::http(router(Webhook::new(ports, settings)), &metrics).await
}
