//! One SQLite file. One thread writes: requests that come together share one transaction, and so one `fsync`; each
//! is answered after it is durable. Other threads read, each on a connection of its own.
//!
//! A request that fails is undone alone (a savepoint); a transaction that fails fails all that shared it.

mod job;
mod schema;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;
use yuba_core::time::Span;
use yuba_ports::PortError;

use job::{Failure, Job, Work};

/// How many requests may share a transaction.
const MOST_IN_GROUP: usize = 256;
/// How many threads read.
const READERS: usize = 2;

type Read = Box<dyn FnOnce(&Connection) + Send>;

/// Why a database could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenDatabaseError {
    /// SQLite would not.
    #[error("the database {path} cannot be opened")]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// It was written by a newer version.
    #[error(
        "the database {path} has schema {found}; this version of Yuba reads up to {known}: start the newer one"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest that this version reads.
        known: i64,
    },
    /// A thread could not be started.
    #[error("a thread for the database cannot be started")]
    Thread(#[source] std::io::Error),
}

/// A SQLite file that is open. Dropping it ends its threads once they have answered what was asked.
#[derive(Clone)]
pub struct Database {
    writes: Sender<Box<dyn Job>>,
    reads: Sender<Read>,
}

impl Database {
    /// Opens the file, or makes it.
    pub fn open(path: &Path) -> Result<Self, OpenDatabaseError> {
        let connection = schema::connect(path)?;
        let (writes, write_requests) = channel();
        start("database writer", move || write_all(connection, &write_requests))?;
        let (reads, read_requests) = channel();
        let read_requests = Arc::new(Mutex::new(read_requests));
        for _ in 0..READERS {
            let (reader, requests) = (schema::connect(path)?, read_requests.clone());
            start("database reader", move || read_all(&reader, &requests))?;
        }
        Ok(Self { writes, reads })
    }

    /// Writes, and answers once it is durable. `after` runs on the writing thread, in the order of the writes, and
    /// also where nobody waits for the answer any more.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        after: impl FnOnce(&T) + Send + 'static,
    ) -> Result<T, PortError> {
        let (reply, answer) = oneshot::channel();
        self.writes.send(Box::new(Work::new(work, after, reply))).map_err(|_| gone(what))?;
        answer.await.map_err(|_| gone(what))?.map_err(|failure| failed(what, failure))
    }

    /// Reads what was committed.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        what: &'static str,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, PortError> {
        let (reply, answer) = oneshot::channel();
        let read: Read = Box::new(move |connection| drop(reply.send(work(connection))));
        self.reads.send(read).map_err(|_| gone(what))?;
        answer.await.map_err(|_| gone(what))?.map_err(|error| failed(what, Failure::Own(error)))
    }
}

fn start(name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), OpenDatabaseError> {
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop).map_err(OpenDatabaseError::Thread)
}

fn write_all(mut connection: Connection, requests: &Receiver<Box<dyn Job>>) {
    while let Ok(first) = requests.recv() {
        let mut group = vec![first];
        group.extend(requests.try_iter().take(MOST_IN_GROUP));
        let failure = commit(&mut connection, &mut group).err().map(Arc::new);
        for job in group {
            job.finish(failure.clone());
        }
    }
}

fn commit(connection: &mut Connection, group: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for job in group {
        let savepoint = transaction.savepoint()?;
        if job.run(&savepoint) {
            savepoint.commit()?;
        }
    }
    transaction.commit()
}

fn read_all(connection: &Connection, requests: &Mutex<Receiver<Read>>) {
    loop {
        let next = requests.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(read) = next else { return };
        read(connection);
    }
}

fn gone(what: &str) -> PortError {
    PortError::transient(format!("{what}: the database is closed"))
}

fn failed(what: &str, failure: Failure) -> PortError {
    match failure.code() {
        Some(rusqlite::ErrorCode::DiskFull) => {
            PortError::wait(format!("{what}: the disk is full; free some space"), Span::seconds(10))
        }
        _ => PortError::transient(format!("{what}: the database could not do it")),
    }
    .because(failure)
}
