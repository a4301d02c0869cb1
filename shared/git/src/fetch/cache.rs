//! A source's bare cache: made, locked for the one fetch that may write, cleaned of what a killed fetch left, and kept
//! in few packs. Objects are never pruned: after a force-push the former revision's tree must stay readable.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::error::FetchError;

/// Packs are joined when there are more of them than this.
const MANY_PACKS: usize = 40;

/// A cache directory that this process may write to until the value is dropped.
#[derive(Debug)]
pub(super) struct Locked {
    pub(super) path: PathBuf,
    _lock: File,
}

impl Locked {
    /// Takes the lock of the cache at `path`, waiting for a fetch that is under way, and removes what a killed one
    /// left behind. The operating system releases the lock of a process that dies.
    pub(super) fn take(path: &Path) -> Result<Self, FetchError> {
        let failed = |source| FetchError::Cache { path: path.to_owned(), source };
        fs::create_dir_all(path).map_err(failed)?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path.join("yuba.lock"))
            .map_err(failed)?;
        lock.lock().map_err(failed)?;
        let locked = Self { path: path.to_owned(), _lock: lock };
        locked.remove_leftovers().map_err(failed)?;
        Ok(locked)
    }

    /// Whether the repository in it has been made.
    pub(super) fn is_made(&self) -> bool {
        self.path.join("HEAD").is_file() && self.path.join("objects").is_dir()
    }

    /// Whether there are so many packs that looking up an object has become slow.
    pub(super) fn has_many_packs(&self) -> bool {
        let Ok(entries) = fs::read_dir(self.path.join("objects/pack")) else { return false };
        let packs =
            entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "pack"));
        packs.count() > MANY_PACKS
    }

    fn remove_leftovers(&self) -> io::Result<()> {
        for name in ["HEAD.lock", "config.lock", "packed-refs.lock", "shallow.lock"] {
            remove_if_there(&self.path.join(name))?;
        }
        remove_matching(&self.path.join("refs"), &|path| path.extension().is_some_and(|end| end == "lock"))?;
        remove_matching(&self.path.join("objects/pack"), &|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("tmp_"))
        })
    }
}

fn remove_matching(directory: &Path, stale: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_matching(&entry.path(), stale)?;
        } else if stale(&entry.path()) {
            remove_if_there(&entry.path())?;
        }
    }
    Ok(())
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
