//! The provider `yuba/toy`, which tofu and terraform start as a plugin.

use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    yuba_toy_cloud::provider::serve().await
}
