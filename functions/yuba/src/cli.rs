//! The arguments of the command line, and who answers them.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::builder::Resettable;
use clap::{CommandFactory, Parser, Subcommand};

use crate::client;
use crate::commands::drift_local;
use crate::commands::push_hook;
use crate::commands::runner;
use crate::commands::serve::{self, Serve};
use crate::commands::try_repository::{self, TryArgs};
use crate::commands::validate::{self, ValidateArgs};
use crate::done::{Done, Unwritable, code};

/// Turns Git into infrastructure with OpenTofu or Terraform.
#[derive(Debug, Parser)]
#[command(name = "yuba", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    options: client::Options,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Run all of Yuba in one process on one data directory.
    Serve(Serve),
    /// What a task runs: started by the server, not by hand.
    Runner,
    /// Check manifests: files, or directories that hold them. Needs no server.
    Validate(ValidateArgs),
    /// Show what Yuba would make of a repository. Needs no server, changes nothing.
    Try(TryArgs),
    /// What a Git server's hooks call, to tell of a push at once.
    #[command(subcommand)]
    Hook(push_hook::Hook),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    #[command(flatten)]
    Client(client::Verb),
}

/// Reads the arguments, does what they ask for, and says how it ended.
pub(crate) fn run() -> ExitCode {
    match Cli::try_parse() {
        Ok(cli) => answer(cli).unwrap_or_else(|error| failed(&error)),
        // Help and version are no failures; clap knows where each is to be written.
        Err(usage) if usage.use_stderr() => {
            let _ = as_typed().unwrap_or(usage).print();
            ExitCode::from(code::USAGE)
        }
        Err(told) => {
            let _ = told.print();
            ExitCode::from(code::FINE)
        }
    }
}

/// What is wrong with the arguments alone. Its usage line repeats what was typed, and not what the environment adds.
fn as_typed() -> Option<clap::Error> {
    Cli::command().mut_args(|argument| argument.env(Resettable::Reset)).try_get_matches().err()
}

/// What went wrong is said; that nobody reads any more what is printed is nothing wrong.
fn failed(error: &anyhow::Error) -> ExitCode {
    match error.downcast_ref::<Unwritable>() {
        Some(unwritable) if unwritable.is_closed() => ExitCode::SUCCESS,
        _ => Done::failed(error).finish(),
    }
}

fn answer(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.verb {
        Verb::Serve(args) => Ok(serve::run(args)?.finish()),
        Verb::Runner => Ok(runner::run()),
        Verb::Validate(args) => Ok(validate::run(&args, cli.options.output.into())?.finish()),
        Verb::Try(args) => {
            Ok(try_repository::run(&args, cli.options.output.into(), &environment())?.finish())
        }
        Verb::Hook(hook) => Ok(push_hook::run(&hook, cli.options.server())?.finish()),
        Verb::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "yuba", &mut script);
            Ok(Done::text(String::from_utf8(script)?, code::FINE).finish())
        }
        Verb::Client(client::Verb::Drift(client::Drift::Check { local, .. })) if !local.is_empty() => {
            Ok(drift_local::run(&local, cli.options.output.into(), &environment())?.finish())
        }
        Verb::Client(verb) => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            runtime.block_on(client::run(&cli.options, verb))
        }
    }
}

/// The environment, read once; what is no text is left out.
fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::Cli;

    #[test]
    fn the_arguments_of_all_verbs_fit_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn drift_is_checked_of_what_was_named_in_one_way() {
        let understood = |arguments: &str| {
            let words = ["yuba", "drift", "check"].into_iter().chain(arguments.split_whitespace());
            Cli::try_parse_from(words).is_ok()
        };
        let good = ["network", "a/one a/two", "-l env=prod", "--all", "--failed", "--local ./one ./two"];
        assert!(good.iter().all(|arguments| understood(arguments)));
        let bad =
            ["", "network --all", "-l env=prod --all", "--local ./one -l env=prod", "--all --local ./one"];
        assert_eq!(bad.iter().find(|arguments| understood(arguments)), None);
    }
}
