//! The arguments of the command line, and who answers them.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::validate::{self, ValidateArgs};
use crate::done::{Done, code};

/// Turns Git into infrastructure with OpenTofu or Terraform.
#[derive(Debug, Parser)]
#[command(name = "yuba", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Check manifests: files, or directories that hold them. Needs no server.
    Validate(ValidateArgs),
}

/// Reads the arguments, does what they ask for, and says how it ended.
pub(crate) fn run() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => answer(cli.verb).unwrap_or_else(|error| Done::failed(&error)).finish(),
        Err(usage) => {
            // Help and version are no failures; clap knows where each is to be written.
            let _ = usage.print();
            ExitCode::from(if usage.use_stderr() { code::USAGE } else { code::FINE })
        }
    }
}

fn answer(verb: Verb) -> anyhow::Result<Done> {
    match verb {
        Verb::Validate(args) => validate::run(&args),
    }
}
