//! The log goes to standard error, as text for people or as JSON. `YUBA_LOG` filters it, in the form of
//! `tracing-subscriber`'s `EnvFilter`: `debug`, `yuba_orchestrator=debug,info`.

use std::io::{IsTerminal, stderr};

use clap::ValueEnum;
use tracing::Level;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::Directive;

/// How the log is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Begins to log what is at least of a level.
pub(crate) fn start(format: LogFormat, level: Level) {
    let filter = EnvFilter::builder()
        .with_default_directive(Directive::from(level))
        .with_env_var("YUBA_LOG")
        .from_env_lossy();
    // A line that cannot be written (the disk is full) is lost. Telling of it would write to the same place, and panic.
    let log =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(stderr).log_internal_errors(false);
    match format {
        LogFormat::Text => log.with_ansi(stderr().is_terminal()).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}
