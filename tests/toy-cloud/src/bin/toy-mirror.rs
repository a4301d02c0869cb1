//! Lays the mirror for the demo: `toy-mirror [DIR]` prints the path of the CLI configuration (`TF_CLI_CONFIG_FILE`).

use std::error::Error;
use std::io::{self, Write};
use std::path::Path;

use yuba_toy_cloud::{mirror, shared_mirror};

fn main() -> Result<(), Box<dyn Error>> {
    let configuration = match std::env::args_os().nth(1) {
        Some(dir) => mirror(Path::new(&dir))?,
        None => shared_mirror()?,
    };
    writeln!(io::stdout(), "{}", configuration.display())?;
    Ok(())
}
