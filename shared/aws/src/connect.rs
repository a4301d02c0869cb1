//! How clients of AWS behave, in one place: how long they wait and how often they try again. A function that waits is
//! paid for, so both are bounded well below the least time-out of a function (30 seconds).

use std::time::Duration;

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, ConfigLoader, SdkConfig};

/// How long it may take to connect.
const CONNECT: Duration = Duration::from_secs(2);
/// How long a service may be silent before it answers.
const READ: Duration = Duration::from_secs(10);
/// How long all tries of a request may take together, long polls and large objects aside.
pub(crate) const OPERATION: Duration = Duration::from_secs(20);
/// How often a request is sent at most.
const TRIES: u32 = 4;
/// The wait before the second try, at most; it doubles with each.
const FIRST_BACKOFF: Duration = Duration::from_millis(50);

/// Finds region, credentials and endpoint as every AWS program does, in environment and container.
///
/// No connection is made and no credentials are asked for before the first request.
pub async fn connect() -> SdkConfig {
    loader().load().await
}

/// What [`connect`] loads, for more to be set.
pub fn loader() -> ConfigLoader {
    aws_config::defaults(BehaviorVersion::latest()).timeout_config(timeouts()).retry_config(retries())
}

/// How long clients wait.
pub(crate) fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder().connect_timeout(CONNECT).read_timeout(READ).operation_timeout(OPERATION).build()
}

/// How often they try again.
pub(crate) fn retries() -> RetryConfig {
    RetryConfig::standard().with_max_attempts(TRIES).with_initial_backoff(FIRST_BACKOFF)
}
