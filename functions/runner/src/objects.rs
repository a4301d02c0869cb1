//! Where an attempt reads and writes its objects.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;

use yuba_core::task::ObjectAccess;

use crate::ended::{Ended, Step};

/// The installation's objects, as far as the claim lets this attempt reach them.
#[derive(Debug, Clone)]
pub(crate) struct Objects {
    root: PathBuf,
}

/// What an object is written from.
pub(crate) enum Body<'a> {
    /// Memory.
    Bytes(&'a [u8]),
    /// A file.
    File(&'a Path),
}

impl Objects {
    /// Objects where the claim says.
    pub(crate) fn new(access: &ObjectAccess) -> Self {
        let ObjectAccess::Directory { path } = access;
        Self { root: path.into() }
    }

    /// Writes an object from memory; readers see it whole or not at all.
    pub(crate) fn put(&self, key: &str, bytes: &[u8]) -> Step<()> {
        self.write(key, |file| io::Write::write_all(file, bytes))
    }

    /// Writes an object from a file.
    pub(crate) fn put_file(&self, key: &str, path: &Path) -> Step<()> {
        let mut from = File::open(path).map_err(|error| Ended::io("read", path, &error))?;
        self.write(key, |file| io::copy(&mut from, file).map(drop))
    }

    /// Writes several objects at once: each waits for the disk, so they wait together.
    pub(crate) fn put_all(&self, objects: &[(String, Body<'_>)]) -> Step<()> {
        thread::scope(|scope| {
            let put = |(key, body): &(String, Body<'_>)| match body {
                Body::Bytes(bytes) => self.put(key, bytes),
                Body::File(path) => self.put_file(key, path),
            };
            let writing: Vec<_> = objects.iter().map(|object| scope.spawn(move || put(object))).collect();
            let broken = |_| Err(Ended::transient("writing an object was broken off"));
            writing.into_iter().try_for_each(|writing| writing.join().unwrap_or_else(broken))
        })
    }

    /// Opens an object for reading; `None` where there is none.
    pub(crate) fn open(&self, key: &str) -> Step<Option<File>> {
        let path = self.root.join(key);
        match File::open(&path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Ended::io("read", &path, &error)),
        }
    }

    fn write(&self, key: &str, fill: impl FnOnce(&mut File) -> io::Result<()>) -> Step<()> {
        let path = self.root.join(key);
        let temporary = path.with_added_extension("new");
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder).map_err(|error| Ended::io("make", folder, &error))?;
        let written = private_file(&temporary)
            .and_then(|mut file| fill(&mut file).and_then(|()| file.sync_data()))
            .and_then(|()| fs::rename(&temporary, &path));
        written.map_err(|error| Ended::io("write", &path, &error))
    }
}

/// A new, empty file that only its owner can read.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    File::options().read(true).write(true).create(true).truncate(true).mode(0o600).open(path)
}
