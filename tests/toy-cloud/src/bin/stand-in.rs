//! The provider that is started in place of another one, of which only the schema is real.

use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    yuba_toy_cloud::stand_in::serve().await
}
