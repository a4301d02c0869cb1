//! The Slack function on AWS Lambda, behind a Function URL.

use std::process::ExitCode;
use std::sync::Arc;

use yuba_aws::lambda::{self, Metrics, OwnSecret, Port, PortsSettings};
use yuba_aws::{Variables, connect};
use yuba_http::{PrivateAddresses, WebClient};
use yuba_slack::{Slack, SlackSettings, router};

fn main() -> ExitCode {
    lambda::run(serve())
}

async fn serve() -> Result<(), lambda::Error> {
    let mut variables = Variables::of_environment();
    let ports = PortsSettings::read(&mut variables, &[Port::Secrets]);
    let secrets = "the SSM parameter that holds the signing secrets of the Slack app, one on each line";
    let secrets = OwnSecret::read(&mut variables, "YUBA_SLACK_SIGNING_SECRETS", secrets);
    let private = "whether addresses outside the public network are reached, `refused` or `allowed`";
    let private = variables.optional("YUBA_PRIVATE_ADDRESSES", private, str::parse::<PrivateAddresses>);
    let (ports, secrets) = variables.finish(ports.zip(secrets))?;

    let http = Arc::new(WebClient::new(private.unwrap_or(PrivateAddresses::Refused))?);
    let config = connect().await;
    let signing_secrets = secrets.lines(&config).await?;
    let ports = ports.open(&config).await?;
    let metrics = Metrics::new(&ports.installation, "slack");
    lambda::http(router(Slack::new(ports, SlackSettings { signing_secrets, http })), &metrics).await
}
