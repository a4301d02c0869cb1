//! One SQLite file. One thread writes: requests that come together share one transaction, and so one `fsync`; each
//! is answered after it is durable. Other threads read, and one makes checkpoints, each on a connection of its own.
//!
//! A request that fails is undone alone (a savepoint); a transaction that fails fails all that shared it.

mod checkpoint;
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

use checkpoint::Checkpoints;
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
        let (checkpoints, notices) = Checkpoints::take_from(&connection)
            .map_err(|source| OpenDatabaseError::Sqlite { path: path.to_owned(), source })?;
        let (writes, write_requests) = channel();
        start("database writer", move || write_all(connection, &write_requests, &checkpoints))?;
        let connection = schema::connect(path)?;
        start("database checkpoints", move || checkpoint::run(&connection, &notices))?;
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

fn write_all(mut connection: Connection, requests: &Receiver<Box<dyn Job>>, checkpoints: &Checkpoints) {
    while let Ok(first) = requests.recv() {
        let mut group = vec![first];
        group.extend(requests.try_iter().take(MOST_IN_GROUP));
        let failure = commit(&mut connection, &mut group).err().map(Arc::new);
        for job in group {
            job.finish(failure.clone());
        }
        checkpoints.note();
    }
}

fn commit(connection: &mut Connection, group: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for job in group {
        let savepoint = transaction.savepoint()?;
        if job.run(&savepoint) {
            savepoint.commit()?;
        } else {
            drop(savepoint);
        }
        if transaction.is_autocommit() {
            return Err(undone());
        }
    }
    transaction.commit()
}

/// Some errors, as that of a full disk, make SQLite undo the whole transaction. What came after them would be written
/// without one, and answered as if it were not. <https://sqlite.org/lang_transaction.html>, section 3
fn undone() -> rusqlite::Error {
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ABORT_ROLLBACK);
    rusqlite::Error::SqliteFailure(code, Some("another request's error undid the transaction".to_owned()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use yuba_ports::Remedy;

    /// Lets the database grow by so many pages more: SQLite takes the bound for the end of the disk.
    async fn leave_pages(database: &Database, more: i64) {
        let bound = move |connection: &Connection| {
            let pages = connection.query_row("PRAGMA page_count", [], |row| row.get::<_, i64>(0))?;
            let set = format!("PRAGMA max_page_count = {}", pages + more);
            connection.query_row(&set, [], |row| row.get::<_, i64>(0))
        };
        database.write("a bound", bound, |_| {}).await.unwrap();
    }

    async fn insert(database: &Database, bytes: i64) -> Result<usize, PortError> {
        let insert =
            move |connection: &Connection| connection.execute("INSERT INTO t VALUES (zeroblob(?1))", [bytes]);
        database.write("a row", insert, |_| {}).await
    }

    #[tokio::test]
    async fn a_full_disk_is_told_and_nothing_is_lost() {
        let directory = tempfile::tempdir().unwrap();
        let database = Database::open(&directory.path().join("a.db")).unwrap();
        let create = |connection: &Connection| connection.execute_batch("CREATE TABLE t (x BLOB)");
        database.write("a table", create, |()| {}).await.unwrap();
        insert(&database, 10).await.unwrap();
        leave_pages(&database, 2).await;
        let (large, small) = tokio::join!(insert(&database, 1 << 20), insert(&database, 11));
        let error = large.unwrap_err();
        assert_eq!(error.what, "a row: the disk is full; free some space");
        assert_eq!(error.remedy, Remedy::Wait(Span::seconds(10)));
        leave_pages(&database, 1000).await;
        insert(&database, 1 << 20).await.unwrap();
        let lengths = "SELECT group_concat(length(x), ' ') FROM (SELECT x FROM t ORDER BY length(x))";
        let lengths = move |connection: &Connection| connection.query_row(lengths, [], |row| row.get(0));
        let kept: String = database.read("rows", lengths).await.unwrap();
        assert_eq!(kept, if small.is_ok() { "10 11 1048576" } else { "10 1048576" });
    }
}
