//! The runner as the program of a task on AWS: what `yuba runner` is on one machine, with objects in a bucket.

use std::process::ExitCode;
use std::sync::Arc;

use yuba_aws::S3Blobs;
use yuba_aws::lambda::{environment, log_as_json};
use yuba_core::task::BucketAccess;
use yuba_ports::Blobs;
use yuba_runner::{Processes, run};

fn main() -> ExitCode {
    log_as_json();
    let Ok(runtime) = tokio::runtime::Runtime::new().inspect_err(|error| {
        tracing::error!(%error, "no threads can be started");
    }) else {
        return ExitCode::FAILURE;
    };
    runtime.block_on(run(environment(), Processes::OfTheAttempt, Some(open_bucket)))
}

fn open_bucket(access: &BucketAccess) -> Arc<dyn Blobs> {
    Arc::new(S3Blobs::of_access(access))
}
