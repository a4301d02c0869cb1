//! The provider through which tofu and terraform manage a toy cloud: a plugin of protocol version 6.
//!
//! `toy` answers to the plugin protocol with one of `calls`, `plan` decides, `faults` lets a call wait or fail, `cloud` at
//! the crate's root does the work.

mod body;
mod calls;
mod change;
mod error;
mod faults;
mod plan;
mod schema;
mod toy;

use std::process::ExitCode;

use toy::{Environment, Toy};

/// Serves the provider until tofu ends it.
pub async fn serve() -> ExitCode {
    crate::plugin::serve(Toy::new(Environment::read())).await
}
