//! Where an attempt reads and writes its objects: a directory of this machine, or a bucket.
//!
//! Everything here waits for the disk or the bucket, on threads that may.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use tokio::runtime::Handle;
use tokio::task::block_in_place;
use yuba_core::run::FailureClass;
use yuba_core::task::{BucketAccess, ObjectAccess};
use yuba_ports::{Blobs, PortError, PutMode, Remedy};

use crate::ended::{Ended, Step};

/// Opens the bucket that a claim names. A runner for one machine opens none.
pub type OpenBucket = fn(&BucketAccess) -> Arc<dyn Blobs>;

/// The installation's objects, as far as the claim lets this attempt reach them.
#[derive(Clone)]
pub(crate) struct Objects(Arc<Place>);

impl fmt::Debug for Objects {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Objects")
    }
}

enum Place {
    Directory(PathBuf),
    Bucket(Bucket),
}

struct Bucket {
    /// Opens it.
    open: OpenBucket,
    /// With the credentials that hold now.
    blobs: RwLock<Arc<dyn Blobs>>,
    /// Where objects lie for a moment while they are read.
    scratch: PathBuf,
    read: AtomicU32,
    runtime: Handle,
}

/// What an object is written from.
pub(crate) enum Body<'a> {
    /// Memory.
    Bytes(&'a [u8]),
    /// A file.
    File(&'a Path),
}

impl Objects {
    /// Objects where the claim says. Within a runtime.
    pub(crate) fn new(access: &ObjectAccess, open: Option<OpenBucket>, scratch: &Path) -> Step<Self> {
        let place = match (access, open) {
            (ObjectAccess::Directory { path }, _) => Place::Directory(path.into()),
            (ObjectAccess::Bucket(access), Some(open)) => Place::Bucket(Bucket {
                open,
                blobs: RwLock::new(open(access)),
                scratch: scratch.join("objects"),
                read: AtomicU32::new(0),
                runtime: Handle::current(),
            }),
            (ObjectAccess::Bucket(access), None) => {
                return Err(Ended::configuration(format!(
                    "objects lie in the bucket {}, and this runner reads directories alone: on AWS tasks run `yuba-runner`",
                    access.bucket
                )));
            }
        };
        Ok(Self(Arc::new(place)))
    }

    /// Reads and writes from now on with these credentials.
    pub(crate) fn renew(&self, access: &ObjectAccess) {
        if let (Place::Bucket(bucket), ObjectAccess::Bucket(access)) = (&*self.0, access) {
            *bucket.blobs.write().unwrap_or_else(PoisonError::into_inner) = (bucket.open)(access);
        }
    }

    /// Writes an object; readers see it whole or not at all.
    pub(crate) fn put(&self, key: &str, bytes: &[u8]) -> Step<()> {
        self.write(key, &Body::Bytes(bytes))
    }

    /// Writes an object from a file.
    pub(crate) fn put_file(&self, key: &str, path: &Path) -> Step<()> {
        self.write(key, &Body::File(path))
    }

    /// Writes several objects at once: each waits for its place, so they wait together.
    pub(crate) fn put_all(&self, objects: &[(String, Body<'_>)]) -> Step<()> {
        thread::scope(|scope| {
            let writing: Vec<_> =
                objects.iter().map(|(key, body)| scope.spawn(move || self.write(key, body))).collect();
            let broken = |_| Err(Ended::transient("writing an object was broken off"));
            writing.into_iter().try_for_each(|writing| writing.join().unwrap_or_else(broken))
        })
    }

    /// Opens an object for reading; `None` where there is none.
    pub(crate) fn open(&self, key: &str) -> Step<Option<File>> {
        match &*self.0 {
            Place::Directory(root) => open_file(&root.join(key)),
            Place::Bucket(bucket) => bucket.open(key),
        }
    }

    fn write(&self, key: &str, body: &Body<'_>) -> Step<()> {
        match &*self.0 {
            Place::Directory(root) => write_file(root, key, body),
            Place::Bucket(bucket) => bucket.write(key, body),
        }
    }
}

impl Bucket {
    fn blobs(&self) -> Arc<dyn Blobs> {
        self.blobs.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn write(&self, key: &str, body: &Body<'_>) -> Step<()> {
        let blobs = self.blobs();
        let written = async {
            match body {
                Body::Bytes(bytes) => blobs.put(key, bytes, PutMode::Replace).await,
                Body::File(path) => blobs.put_file(key, path, PutMode::Replace).await,
            }
        };
        self.wait(written).map(drop)
    }

    /// Reads the object whole into a file that nobody else finds.
    fn open(&self, key: &str) -> Step<Option<File>> {
        let number = self.read.fetch_add(1, Ordering::Relaxed);
        let path = self.scratch.join(format!("object-{number}"));
        let make = |error| Ended::io("make", &self.scratch, &error);
        private_folder(&self.scratch).map_err(make)?;
        if !self.wait(self.blobs().get_file(key, &path))? {
            return Ok(None);
        }
        let file = open_file(&path)?;
        fs::remove_file(&path).map_err(|error| Ended::io("remove", &path, &error))?;
        Ok(file)
    }

    fn wait<T>(&self, work: impl Future<Output = Result<T, PortError>>) -> Step<T> {
        let done = block_in_place(|| self.runtime.block_on(work));
        done.map_err(|error| {
            let beneath = error.source.as_ref().map(|source| format!(": {source}")).unwrap_or_default();
            let why = format!("{}{beneath}", error.what);
            match error.remedy {
                Remedy::Permanent => Ended::failed(FailureClass::AccessDenied, why),
                Remedy::Wait(_) | Remedy::Transient => Ended::transient(why),
            }
        })
    }
}

fn open_file(path: &Path) -> Step<Option<File>> {
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Ended::io("read", path, &error)),
    }
}

fn write_file(root: &Path, key: &str, body: &Body<'_>) -> Step<()> {
    let path = root.join(key);
    let temporary = path.with_added_extension("new");
    let folder = path.parent().unwrap_or(root);
    fs::create_dir_all(folder).map_err(|error| Ended::io("make", folder, &error))?;
    let mut from: Box<dyn io::Read + '_> = match body {
        Body::Bytes(bytes) => Box::new(*bytes),
        Body::File(file) => Box::new(File::open(file).map_err(|error| Ended::io("read", file, &error))?),
    };
    let written = private_file(&temporary)
        .and_then(|mut file| io::copy(&mut from, &mut file).and_then(|_| file.sync_data()))
        .and_then(|()| fs::rename(&temporary, &path));
    written.map_err(|error| Ended::io("write", &path, &error))
}

/// A folder that only its owner can use, and those above it.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A new, empty file that only its owner can read.
pub(crate) fn private_file(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    File::options().read(true).write(true).create(true).truncate(true).mode(0o600).open(path)
}
