//! The tables, and how a connection is set up.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::OpenDatabaseError;

/// The schema that this version writes. Since 2 there are dead letters; all else is as it was.
const SCHEMA: i64 = 2;

/// Bodies are JSON texts; `indexes` holds a record's index entries, so that they can be found when it changes.
const TABLES: &str = "
    CREATE TABLE IF NOT EXISTS records (
        partition TEXT NOT NULL,
        sort      TEXT NOT NULL,
        version   INTEGER NOT NULL,
        body      TEXT NOT NULL,
        indexes   TEXT NOT NULL,
        PRIMARY KEY (partition, sort)
    ) STRICT;
    CREATE TABLE IF NOT EXISTS entries (
        index_name TEXT NOT NULL,
        value      TEXT NOT NULL,
        partition  TEXT NOT NULL,
        sort       TEXT NOT NULL,
        PRIMARY KEY (index_name, value, partition, sort)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS messages (
        id    INTEGER PRIMARY KEY AUTOINCREMENT,
        queue TEXT NOT NULL,
        body  TEXT NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS dead_letters (
        id    INTEGER PRIMARY KEY AUTOINCREMENT,
        queue TEXT NOT NULL,
        body  TEXT NOT NULL,
        since INTEGER NOT NULL,
        why   TEXT NOT NULL
    ) STRICT;
";

/// Opens a connection: write-ahead log, every commit on the disk before it is answered, tables made.
pub(super) fn connect(path: &Path) -> Result<Connection, OpenDatabaseError> {
    let sqlite = |source| OpenDatabaseError::Sqlite { path: path.to_owned(), source };
    let connection = Connection::open(path).map_err(sqlite)?;
    set_up(&connection).map_err(sqlite)?;
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(sqlite)?;
    if found > SCHEMA {
        return Err(OpenDatabaseError::Newer { path: path.to_owned(), found, known: SCHEMA });
    }
    if found < SCHEMA {
        connection.execute_batch(TABLES).map_err(sqlite)?;
        connection.pragma_update(None, "user_version", SCHEMA).map_err(sqlite)?;
    }
    Ok(connection)
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}
