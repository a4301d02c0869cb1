//! The `yuba` command line.

mod cli;
mod client;
mod commands;
mod done;
mod render;

fn main() -> std::process::ExitCode {
    cli::run()
}
