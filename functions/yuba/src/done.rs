//! What a command has to say when it is done, and how it is written out.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::Value;

/// Exit codes; `docs/cli.md` lists them.
pub(crate) mod code {
    /// All is well.
    pub(crate) const FINE: u8 = 0;
    /// What was asked for failed, or found errors.
    pub(crate) const FAILED: u8 = 1;
    /// Drift was found.
    pub(crate) const DRIFT: u8 = 2;
    /// What was asked for was refused.
    pub(crate) const REFUSED: u8 = 3;
    /// The command line was wrong (`EX_USAGE`).
    pub(crate) const USAGE: u8 = 64;
}

/// The arguments are wrong, though only what they were about could tell: the command ends with [`code::USAGE`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct WrongArguments(pub(crate) String);

/// How a command writes what it found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Text for people.
    Table,
    /// One JSON document.
    Json,
    /// One YAML document.
    Yaml,
}

/// What a command printed, were it a program of its own.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Done {
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
    /// Exit code.
    pub(crate) code: u8,
}

impl Done {
    /// Text on standard output, and an exit code.
    pub(crate) fn text(out: String, code: u8) -> Self {
        Self { out, err: String::new(), code }
    }

    /// A JSON document on standard output, and an exit code.
    pub(crate) fn json(value: &Value, code: u8) -> Self {
        Self::text(format!("{value:#}\n"), code)
    }

    /// A YAML document on standard output, and an exit code.
    pub(crate) fn yaml(value: &Value, code: u8) -> Self {
        Self::text(crate::render::yaml::write(value), code)
    }

    /// A failure: what happened, with its causes.
    pub(crate) fn failed(error: &anyhow::Error) -> Self {
        let code = if error.is::<WrongArguments>() { code::USAGE } else { code::FAILED };
        Self { out: String::new(), err: format!("error: {error:#}\n"), code }
    }

    /// Writes everything out; text that cannot be written is a failure.
    pub(crate) fn finish(self) -> ExitCode {
        let written = print(&self.out);
        let _ = std::io::stderr().write_all(self.err.as_bytes());
        match written {
            Err(error) if !error.is_closed() => {
                let _ = writeln!(std::io::stderr(), "error: {error}");
                ExitCode::from(code::FAILED)
            }
            _ => ExitCode::from(self.code),
        }
    }
}

/// Standard output cannot be written to.
#[derive(Debug)]
pub(crate) struct Unwritable(io::Error);

impl Unwritable {
    /// Whether the reader has gone away (`yuba … | head`): there is nobody to tell, and nothing is wrong.
    pub(crate) fn is_closed(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

impl fmt::Display for Unwritable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "cannot write to standard output: {}", self.0)
    }
}

impl std::error::Error for Unwritable {}

/// Writes a text to standard output, to its end.
pub(crate) fn print(text: &str) -> Result<(), Unwritable> {
    written(std::io::stdout().lock(), text)
}

fn written(mut to: impl Write, text: &str) -> Result<(), Unwritable> {
    to.write_all(text.as_bytes()).and_then(|()| to.flush()).map_err(Unwritable)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken(io::ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_a_failure_and_a_closed_pipe_is_none() {
        let error = |kind| written(Broken(kind), "text").unwrap_err();
        assert!(error(io::ErrorKind::BrokenPipe).is_closed());
        assert!(!error(io::ErrorKind::StorageFull).is_closed());
    }
}
