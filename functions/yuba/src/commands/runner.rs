//! `yuba runner`: one attempt, as the environment names it.

use std::process::ExitCode;

use anyhow::Context;
use tokio::runtime::Runtime;
use tracing::Level;
use yuba_runner::Processes;

use super::serve::environment;
use crate::done::Done;
use crate::logs::{self, LogFormat};

/// Runs the attempt. Exit code 0 says that its report was accepted, also of a failure.
pub(crate) fn run() -> ExitCode {
    logs::start(LogFormat::Text, Level::INFO);
    match Runtime::new().context("no threads can be started") {
        Ok(runtime) => runtime.block_on(yuba_runner::run(environment(), Processes::OfTheAttempt, None)),
        Err(error) => Done::failed(&error).finish(),
    }
}
