//! The log: one JSON object a line, with the fields of the span that it belongs to. `YUBA_LOG` filters it, as it does
//! for the command line.

use tracing::Level;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::Directive;

/// Begins to log what is at least of level `info`.
pub fn log_as_json() {
    let filter = EnvFilter::builder()
        .with_default_directive(Directive::from(Level::INFO))
        .with_env_var("YUBA_LOG")
        .from_env_lossy();
    tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_span_list(false)
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .log_internal_errors(false)
        .init();
}
