//! The tasks function on AWS Lambda, behind a Function URL, and told by ECS of tasks that stopped.

use std::process::ExitCode;
use std::sync::Arc;

use yuba_aws::lambda::{self, Metrics, Port, PortsSettings};
use yuba_aws::{ObjectGrantsSettings, StsObjectGrants, Variables, connect};
use yuba_tasks::{TaskSettings, TasksState, router, stopped};

fn main() -> ExitCode {
    lambda::run(serve())
}

async fn serve() -> Result<(), lambda::Error> {
    let mut variables = Variables::of_environment();
    let ports =
        PortsSettings::read(&mut variables, &[Port::Caps, Port::Secrets, Port::Credentials, Port::Key]);
    let objects = ObjectGrantsSettings::read(&mut variables);
    let (ports, objects) = variables.finish(ports.zip(objects))?;

    let config = connect().await;
    let ports = ports.open(&config).await?;
    let metrics = Metrics::new(&ports.installation, "tasks");
    let objects = Arc::new(StsObjectGrants::new(&config, objects, &ports.installation));
    // A stack for which nobody names a backend has none: no directory outlives a task.
    let settings = TaskSettings { objects, local_state: None, provider_cache: None };
    let routes = router(TasksState { ports: ports.clone(), settings: Arc::new(settings) });
    lambda::http_and_stopped(routes, &metrics, |attempt| stopped(&ports, attempt)).await
}
