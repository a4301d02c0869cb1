//! `Blobs` as files. An object is written under another name, made durable, and renamed: it is seen whole or not at
//! all, also after a crash. Files and directories are for this user alone.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use tempfile::{Builder, NamedTempFile};
use yuba_ports::{Blobs, PortError, PutMode, PutOutcome, check_key};

use crate::private::{UNFINISHED, make_directory};

/// Objects below a directory.
#[derive(Debug, Clone)]
pub struct LocalBlobs {
    root: PathBuf,
}

impl LocalBlobs {
    /// Objects below a directory that exists.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn path(&self, key: &str) -> Result<PathBuf, PortError> {
        check_key(key)?;
        Ok(self.root.join(key))
    }
}

#[async_trait]
impl Blobs for LocalBlobs {
    async fn put(&self, key: &str, bytes: &[u8], mode: PutMode) -> Result<PutOutcome, PortError> {
        let (path, bytes) = (self.path(key)?, bytes.to_vec());
        blocking(key, move || write(&path, &mut bytes.as_slice(), mode)).await
    }

    async fn put_file(&self, key: &str, file: &Path, mode: PutMode) -> Result<PutOutcome, PortError> {
        let (path, file) = (self.path(key)?, file.to_owned());
        blocking(key, move || write(&path, &mut File::open(file)?, mode)).await
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, PortError> {
        let path = self.path(key)?;
        blocking(key, move || present(std::fs::read(path))).await
    }

    async fn get_file(&self, key: &str, file: &Path) -> Result<bool, PortError> {
        let (path, file) = (self.path(key)?, file.to_owned());
        let copy = move || {
            let Some(mut object) = present(File::open(path))? else { return Ok(false) };
            let mut copy =
                OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(file)?;
            io::copy(&mut object, &mut copy).map(|_| true)
        };
        blocking(key, copy).await
    }

    async fn exists(&self, key: &str) -> Result<bool, PortError> {
        let path = self.path(key)?;
        blocking(key, move || Ok(path.is_file())).await
    }

    async fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<String>, PortError> {
        let (root, prefix, after) = (self.root.clone(), prefix.to_owned(), after.map(str::to_owned));
        let list = move || {
            let mut keys = Vec::new();
            collect(&root, "", &prefix, &mut keys)?;
            keys.retain(|key| after.as_ref().is_none_or(|after| key > after));
            keys.sort();
            keys.truncate(limit);
            Ok(keys)
        };
        blocking("a list", list).await
    }

    async fn delete(&self, key: &str) -> Result<(), PortError> {
        let path = self.path(key)?;
        blocking(key, move || present(std::fs::remove_file(path)).map(drop)).await
    }
}

async fn blocking<T: Send + 'static>(
    key: &str,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, PortError> {
    let done = tokio::task::spawn_blocking(work).await.map_err(io::Error::other).and_then(|done| done);
    done.map_err(|error| {
        PortError::transient(format!("object {key}: the file could not be used")).because(error)
    })
}

/// Nothing where there is nothing.
fn present<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

fn write(path: &Path, content: &mut dyn Read, mode: PutMode) -> io::Result<PutOutcome> {
    if mode == PutMode::CreateOnly && path.exists() {
        return Ok(PutOutcome::Exists);
    }
    let directory = path.parent().unwrap_or(path);
    make_directory(directory)?;
    let mut unfinished = Builder::new().prefix(UNFINISHED).tempfile_in(directory)?;
    io::copy(content, unfinished.as_file_mut())?;
    unfinished.as_file_mut().flush()?;
    unfinished.as_file().sync_all()?;
    let outcome = finish(unfinished, path, mode)?;
    File::open(directory)?.sync_all()?;
    Ok(outcome)
}

fn finish(unfinished: NamedTempFile, path: &Path, mode: PutMode) -> io::Result<PutOutcome> {
    if mode == PutMode::Replace {
        unfinished.persist(path)?;
        return Ok(PutOutcome::Written);
    }
    match unfinished.persist_noclobber(path) {
        Ok(_) => Ok(PutOutcome::Written),
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => Ok(PutOutcome::Exists),
        Err(error) => Err(error.error),
    }
}

/// Collects the keys that start with `prefix`, below a directory whose keys start with `above`.
fn collect(directory: &Path, above: &str, prefix: &str, keys: &mut Vec<String>) -> io::Result<()> {
    let Some(entries) = present(std::fs::read_dir(directory))? else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let key = format!("{above}{name}");
        let inside = format!("{key}/");
        if entry.file_type()?.is_dir() {
            if inside.starts_with(prefix) || prefix.starts_with(&inside) {
                collect(&entry.path(), &inside, prefix, keys)?;
            }
        } else if key.starts_with(prefix) && !name.starts_with(UNFINISHED) {
            keys.push(key);
        }
    }
    Ok(())
}
