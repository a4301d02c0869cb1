//! Summarises a plan, to be run under `/usr/bin/time -v`: memory must not grow with the plan.
//!
//! `summarise FILE` reads a plan; `summarise --generate FILE MEGABYTES` writes one of about that size.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use yuba_core::plan;

/// About the size of one generated resource change.
const ENTRY_BYTES: u64 = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["--generate", file, megabytes] => {
            let entries = megabytes.parse::<u64>()? * 1_000_000 / ENTRY_BYTES;
            generate(BufWriter::new(File::create(file)?), entries)?;
        }
        [file] => {
            let read = plan::read(File::open(file)?)?;
            writeln!(io::stdout(), "{} {:?}", read.summary.counts.sentence(), read.summary.left_out)?;
        }
        _ => return Err("usage: summarise FILE | summarise --generate FILE MEGABYTES".into()),
    }
    Ok(())
}

fn generate(mut out: impl Write, entries: u64) -> io::Result<()> {
    write!(
        out,
        r#"{{"format_version":"1.2","terraform_version":"1.11.4","planned_values":{{"root_module":{{"resources":["#
    )?;
    for number in 0..entries / 2 {
        let comma = if number == 0 { "" } else { "," };
        write!(out, r#"{comma}{{"address":"t.r[{number}]","values":{{"text":"{number:x<4000}"}}}}"#)?;
    }
    write!(out, r#"]}}}},"resource_changes":["#)?;
    for number in 0..entries / 2 {
        let comma = if number == 0 { "" } else { "," };
        let action = if number % 3 == 0 { r#""delete","create""# } else { r#""update""# };
        write!(
            out,
            r#"{comma}{{"address":"t.r[{number}]","mode":"managed","type":"t","name":"r","change":{{"actions":[{action}],"#
        )?;
        write!(
            out,
            r#""before":{{"text":"{number:x<1900}"}},"after":{{"text":"{number:y<1900}"}},"after_unknown":{{}}}}}}"#
        )?;
    }
    write!(out, r#"],"configuration":{{"root_module":{{}}}}}}"#)?;
    out.flush()
}
