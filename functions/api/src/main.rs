//! The API on AWS Lambda, behind a Function URL that streams.

use std::process::ExitCode;
use std::sync::Arc;

use yuba_api::{Api, RecordedWhy, router};
use yuba_aws::lambda::{self, Metrics, OwnSecret, Port, PortsSettings};
use yuba_aws::{Variables, connect};

fn main() -> ExitCode {
    lambda::run(serve())
}

async fn serve() -> Result<(), lambda::Error> {
    let mut variables = Variables::of_environment();
    let ports = PortsSettings::read(&mut variables, &[Port::Blobs, Port::Secrets]);
    let token = "the SSM parameter that holds the token that the API is used with";
    let token = OwnSecret::read(&mut variables, "YUBA_API_TOKEN", token);
    let (ports, token) = variables.finish(ports.zip(token))?;

    let config = connect().await;
    let token = token.get(&config).await?;
    let ports = ports.open(&config).await?;
    let metrics = Metrics::new(&ports.installation, "api");
    // This function has no repositories, and may not wait for the one that has.
    let why = Arc::new(RecordedWhy::new(ports.clone()));
    lambda::http_streaming(router(Api::new(ports, token, why)), &metrics).await
}
