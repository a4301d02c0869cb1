//! Opens all ports on a data directory. One process at a time owns a directory; a lock says so.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::SecretString;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use yuba_core::id::{AttemptId, InstallationId};
use yuba_core::task::Isolation;
use yuba_ports::{PortError, Ports, Queue, Store};

use crate::outside::{AmbientCredentials, LocalIds, StorePublisher, SystemClock};
use crate::{
    Database, LauncherSettings, LocalBlobs, LocalLauncher, LocalQueue, LocalSecrets, LocalStore,
    OpenDatabaseError, key, private, states,
};

/// How the ports of one machine are set up.
#[derive(Debug, Clone)]
pub struct LocalSettings {
    /// The program that runs tasks, with `runner` as its argument.
    pub program: PathBuf,
    /// The environment that tasks and engines inherit; `YUBA_…` is left out of it.
    pub environment: BTreeMap<String, String>,
    /// How many tasks may run at once.
    pub tasks: usize,
    /// Whether engines run as other users.
    pub isolation: Isolation,
}

/// Where things lie in a data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalPaths {
    /// The directory itself, absolute.
    pub root: PathBuf,
    /// Objects: artifacts, plans, logs.
    pub objects: PathBuf,
    /// State files of stacks for which nobody names a backend.
    pub state: PathBuf,
    /// Downloaded providers.
    pub providers: PathBuf,
    /// Git's caches.
    pub git: PathBuf,
    /// Work directories of tasks.
    pub work: PathBuf,
    /// Secrets and config maps.
    pub secrets: PathBuf,
    /// Locks and logs of tasks.
    pub tasks: PathBuf,
    /// The file that holds the server's URL while it runs.
    pub server_url: PathBuf,
}

/// What belongs to open ports beside them. Dropping it lets another process open the directory.
#[derive(Debug)]
pub struct LocalHandles {
    /// Where things lie.
    pub paths: LocalPaths,
    /// Authorises the use of the API: derived from the installation's key, so it stays the same.
    pub api_token: SecretString,
    /// Told of each task that has stopped, with all that it started.
    pub stopped: UnboundedReceiver<AttemptId>,
    /// Keeps the directory this process's own.
    _lock: File,
}

/// Why a data directory could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process owns it.
    #[error(
        "the data directory {directory} is in use by process {owner}: stop that one, or use another directory"
    )]
    InUse {
        /// The directory.
        directory: PathBuf,
        /// The other process's id, as it wrote it down.
        owner: String,
    },
    /// A file in it cannot be used.
    #[error("{path} cannot be used")]
    File {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its database cannot be opened.
    #[error(transparent)]
    Database(#[from] OpenDatabaseError),
    /// Its queue cannot be read.
    #[error(transparent)]
    Queue(#[from] PortError),
}

/// Opens the ports on a data directory; makes it where it is missing.
pub async fn open(directory: &Path, settings: LocalSettings) -> Result<(Ports, LocalHandles), OpenError> {
    let paths = LocalPaths::make(directory)?;
    let lock = own(&paths)?;
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| OpenError::File { path, source }
    };
    states::gather(&paths.state).map_err(at(&paths.state))?;
    let database_file = paths.root.join("yuba.db");
    private::make_file(&database_file).map_err(at(&database_file))?;
    paths.let_engines_pass(settings.isolation)?;
    let key_file = paths.root.join("key");
    let key = key::read_or_make(&key_file).map_err(at(&key_file))?;
    let database = Database::open(&database_file)?;
    let clock = Arc::new(SystemClock);
    let store: Arc<dyn Store> = Arc::new(LocalStore::new(database.clone()));
    let (stopped_sender, stopped) = unbounded_channel();
    let environment = settings.environment.clone();
    let launcher = LocalLauncher::open(paths.launcher(settings), stopped_sender).map_err(at(&paths.tasks))?;
    let queue: Arc<dyn Queue> = Arc::new(LocalQueue::open(database, clock.clone()).await?);
    let ports = Ports {
        installation: InstallationId("local".to_owned()),
        blobs: Arc::new(LocalBlobs::new(&paths.objects)),
        launcher: Arc::new(launcher),
        publisher: Arc::new(StorePublisher::new(store.clone(), queue.clone())),
        secrets: Arc::new(LocalSecrets::new(&paths.secrets, key.clone())),
        credentials: Arc::new(AmbientCredentials::new(environment)),
        store,
        queue,
        clock,
        ids: Arc::new(LocalIds::default()),
        key: key.clone(),
    };
    let api_token = SecretString::from(key::derive(&key, &[b"yuba api token"]));
    Ok((ports, LocalHandles { paths, api_token, stopped, _lock: lock }))
}

impl LocalPaths {
    /// The directories of a data directory, made where they are missing.
    fn make(directory: &Path) -> Result<Self, OpenError> {
        let made = private::make_directory(directory).and_then(|()| fs::canonicalize(directory));
        let root = made.map_err(|source| OpenError::File { path: directory.to_owned(), source })?;
        let below = |name: &str| {
            let path = root.join(name);
            match private::make_directory(&path) {
                Ok(()) => Ok(path),
                Err(source) => Err(OpenError::File { path, source }),
            }
        };
        Ok(Self {
            objects: below("objects")?,
            state: below("state")?,
            providers: below("providers")?,
            git: below("git")?,
            work: below("work")?,
            secrets: below("secrets")?,
            tasks: below("tasks")?,
            server_url: root.join("server.url"),
            root,
        })
    }

    /// As root, engines run as other users, who reach by its name what is theirs: their work directory, their stack's state,
    /// and providers. They can list none of these directories, and pass no other.
    fn let_engines_pass(&self, isolation: Isolation) -> Result<(), OpenError> {
        if isolation == Isolation::Never || !rustix::process::geteuid().is_root() {
            return Ok(());
        }
        for path in [&self.root, &self.work, &self.state, &self.providers] {
            let passed = fs::set_permissions(path, fs::Permissions::from_mode(0o711));
            passed.map_err(|source| OpenError::File { path: path.clone(), source })?;
        }
        Ok(())
    }

    fn launcher(&self, settings: LocalSettings) -> LauncherSettings {
        let isolation = settings.isolation;
        LauncherSettings {
            program: settings.program,
            arguments: vec!["runner".to_owned()],
            environment: settings.environment,
            capacity: settings.tasks,
            directory: self.tasks.clone(),
            work: self.work.clone(),
            url_file: self.server_url.clone(),
            isolation,
        }
    }
}

/// Makes the directory this process's own.
fn own(paths: &LocalPaths) -> Result<File, OpenError> {
    let path = paths.root.join("lock");
    let unusable = |source| OpenError::File { path: path.clone(), source };
    let open = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&path);
    let mut lock = open.map_err(unusable)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::Error(source)) => return Err(unusable(source)),
        Err(TryLockError::WouldBlock) => {
            let owner = fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
            return Err(OpenError::InUse { directory: paths.root.clone(), owner });
        }
    }
    let own_id = format!("{}\n", std::process::id());
    lock.set_len(0).and_then(|()| lock.write_all(own_id.as_bytes())).map_err(unusable)?;
    Ok(lock)
}
