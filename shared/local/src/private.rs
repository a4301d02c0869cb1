//! Files and directories that are for this user alone, written whole or not at all.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use tempfile::Builder;

/// How the names of unfinished files begin; [`yuba_ports::check_key`] refuses objects of such names.
pub(crate) const UNFINISHED: &str = ".tmp";

/// Makes a directory of mode 0700, and those above it, where they are missing.
pub(crate) fn make_directory(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

/// Makes a file that only its owner can use, and one that is there such a file; with it those that SQLite has beside it.
pub(crate) fn make_file(path: &Path) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
    for end in ["", "-wal", "-shm"] {
        let mut name = OsString::from(path);
        name.push(end);
        match fs::set_permissions(&name, Permissions::from_mode(0o600)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
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
