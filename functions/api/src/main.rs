//! The API on AWS Lambda, behind a Function URL that streams.

use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use yuba_api::{Api, Explain, Unexplained, router};
use yuba_aws::lambda::{self, Metrics, OwnSecret, Port, PortsSettings};
use yuba_aws::{Variables, connect};
use yuba_core::id::StackName;
use yuba_core::why::Why;

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
    lambda::http_streaming(router(Api::new(ports, token, Arc::new(NoRepositories))), &metrics).await
}

/// This function has no repositories, and may not wait for the one that has.
struct NoRepositories;

#[async_trait]
impl Explain for NoRepositories {
    async fn why(&self, stack: &StackName, _: Option<&str>) -> Result<Why, Unexplained> {
        Err(Unexplained::Unknown(format!(
            "why {stack} was planned is not told on AWS: the API has no repositories there; `yuba describe {stack}` shows \
             the revision that its newest run was made for"
        )))
    }
}
