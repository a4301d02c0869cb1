//! What functions on AWS Lambda share: settings and logs at start, then HTTP, batches of messages, or events, until the
//! environment is taken away.
//!
//! A function's program reads its settings (all problems in one message), opens the ports that it uses and no other, and
//! hands its handler or its routes to one of [`messages()`], [`http()`], [`http_streaming()`], [`http_and_stopped()`] and [`schedule()`].

mod batch;
mod clock;
mod group;
mod http;
mod logs;
mod manifests;
mod metrics;
mod not_opened;
mod ports;
mod schedule;
mod secret;
mod serve;
mod stopped;
mod time_left;
mod work;

use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::ffi::OsString;
use std::process::ExitCode;

use yuba_ports::chain;

pub use http::{http, http_streaming};
pub use logs::log_as_json;
pub use manifests::manifests;
pub use metrics::{Metric, Metrics, Unit};
pub use ports::{Port, PortsSettings};
pub use schedule::schedule;
pub use secret::OwnSecret;
pub use serve::messages;
pub use stopped::http_and_stopped;
pub use work::Work;

/// What Lambda tells each function: where calls are fetched and answered.
const RUNTIME_API: &str = "AWS_LAMBDA_RUNTIME_API";

/// Why a function cannot start or go on.
pub type Error = Box<dyn StdError + Send + Sync>;

/// Runs a function until its environment is taken away. What keeps it from starting is logged, and the exit code is 1.
pub fn run(function: impl Future<Output = Result<(), Error>>) -> ExitCode {
    log_as_json();
    if std::env::vars_os().all(|(name, _)| name != RUNTIME_API) {
        tracing::error!(
            "{RUNTIME_API} is not set: this program runs on AWS Lambda, as `bootstrap` of the runtime provided.al2023"
        );
        return ExitCode::FAILURE;
    }
    let ran = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(Error::from)
        .and_then(|runtime| runtime.block_on(function));
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(error = chain(&*error), "the function cannot run");
            ExitCode::FAILURE
        }
    }
}

/// The variables of this process. One that is no text counts as not set.
pub fn environment() -> BTreeMap<String, String> {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).collect()
}
