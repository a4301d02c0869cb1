//! The `yuba` command line.

mod cli;
mod client;
mod commands;
mod done;
mod logs;
mod render;
mod serve;

fn main() -> std::process::ExitCode {
    cli::run()
}
