//! Moving what the write-ahead log holds into the database file, beside the writes and not between them: a checkpoint
//! syncs two files, and a request that came meanwhile would wait for both.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use rusqlite::Connection;

/// How long the log is left alone after a checkpoint.
const REST: Duration = Duration::from_secs(2);

/// The writer makes a checkpoint itself once the log has this many pages (of 4 KiB): a log that is never read to its
/// end, because writes never pause, would grow without bound.
const MOST_PAGES: u32 = 16_384;

/// Tells the checkpointing thread that there is something to do. The thread ends when this is dropped.
pub(super) struct Checkpoints(SyncSender<()>);

impl Checkpoints {
    /// Takes checkpoints out of the writer's hands. The receiver is for the thread that calls [`run`].
    pub(super) fn take_from(writer: &Connection) -> rusqlite::Result<(Self, Receiver<()>)> {
        writer.pragma_update(None, "wal_autocheckpoint", MOST_PAGES)?;
        let (written, notices) = sync_channel(1);
        Ok((Self(written), notices))
    }

    /// Something was written.
    pub(super) fn note(&self) {
        // A full channel holds the notice of an earlier write, which serves for this one too.
        self.0.try_send(()).unwrap_or_default();
    }
}

/// Makes a checkpoint after writes, as often as [`REST`] allows.
pub(super) fn run(connection: &Connection, notices: &Receiver<()>) {
    while notices.recv().is_ok() {
        if let Err(error) = make(connection) {
            tracing::warn!(%error, "the database's log could not be moved into its file; it is tried again");
        }
        thread::sleep(REST);
    }
}

/// Moves what the log holds into the file, as far as no reader needs it.
fn make(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::database::schema;

    fn messages(path: &Path) -> i64 {
        let connection = schema::connect(path).unwrap();
        connection.query_row("SELECT count(*) FROM messages", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn another_connection_moves_what_the_writer_wrote_into_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let (path, copy) = (directory.path().join("yuba.db"), directory.path().join("copy.db"));
        let (writer, other) = (schema::connect(&path).unwrap(), schema::connect(&path).unwrap());
        make(&other).unwrap();
        let (checkpoints, notices) = Checkpoints::take_from(&writer).unwrap();
        writer.execute("INSERT INTO messages (queue, body) VALUES ('stacks', '{}')", []).unwrap();
        checkpoints.note();
        checkpoints.note();
        std::fs::copy(&path, &copy).unwrap();
        assert_eq!(messages(&copy), 0, "the log holds it");
        notices.try_recv().unwrap();
        make(&other).unwrap();
        std::fs::copy(&path, &copy).unwrap();
        assert_eq!(messages(&copy), 1, "the file holds it");
    }
}
