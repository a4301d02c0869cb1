//! Files and directories that are for this user alone, written whole or not at all.

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use tempfile::Builder;

/// How the names of unfinished files begin; [`yuba_ports::check_key`] refuses objects of such names.
pub(crate) const UNFINISHED: &str = ".tmp";

/// Makes a directory of mode 0700, and those above it, where they are missing.
pub(crate) fn make_directory(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Writes a file of mode 0600 in the place of what was there; durable when it returns.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let directory = path.parent().unwrap_or(path);
    let mut unfinished = Builder::new().prefix(UNFINISHED).tempfile_in(directory)?;
    unfinished.as_file_mut().write_all(content)?;
    unfinished.as_file().sync_all()?;
    unfinished.persist(path)?;
    File::open(directory)?.sync_all()
}
