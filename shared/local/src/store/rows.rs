//! Single records in the tables.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::de::DeserializeOwned;
use serde_json::Value;
use yuba_core::record::{IndexEntry, Key};
use yuba_ports::Item;

/// The columns that [`item`] reads, of a table named `records`.
pub(super) const COLUMNS: &str =
    "records.partition, records.sort, records.version, records.body, records.indexes";

/// Reads a row of [`COLUMNS`].
pub(super) fn item(row: &Row<'_>) -> rusqlite::Result<Item> {
    Ok(Item {
        key: Key { partition: row.get(0)?, sort: row.get(1)? },
        version: row.get(2)?,
        body: json(row, 3)?,
        indexes: json(row, 4)?,
    })
}

fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}

/// A record; `None` where there is none.
pub(super) fn get(connection: &Connection, key: &Key) -> rusqlite::Result<Option<Item>> {
    let sql = format!("SELECT {COLUMNS} FROM records WHERE partition = ?1 AND sort = ?2");
    connection.prepare_cached(&sql)?.query_row([&key.partition, &key.sort], item).optional()
}

/// A record's version; `None` where there is none.
pub(super) fn version(connection: &Connection, key: &Key) -> rusqlite::Result<Option<u64>> {
    connection
        .prepare_cached("SELECT version FROM records WHERE partition = ?1 AND sort = ?2")?
        .query_row([&key.partition, &key.sort], |row| row.get(0))
        .optional()
}

/// Writes a record and its index entries, of which none may be left from before.
pub(super) fn put(
    connection: &Connection,
    key: &Key,
    version: u64,
    (body, indexes): (&Value, &[IndexEntry]),
) -> rusqlite::Result<()> {
    let unwritable = |error: serde_json::Error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
    let entries = serde_json::to_string(indexes).map_err(unwritable)?;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO records (partition, sort, version, body, indexes) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![key.partition, key.sort, version, body.to_string(), entries])?;
    let mut insert = connection.prepare_cached(
        "INSERT OR IGNORE INTO entries (index_name, value, partition, sort) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for entry in indexes {
        insert.execute([entry.index.as_str(), &entry.value, &key.partition, &key.sort])?;
    }
    Ok(())
}

/// Deletes a record, if there is one.
pub(super) fn delete(connection: &Connection, key: &Key) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM records WHERE partition = ?1 AND sort = ?2")?
        .execute([&key.partition, &key.sort])
        .map(drop)
}

/// Deletes a record's index entries.
pub(super) fn remove_entries(connection: &Connection, key: &Key) -> rusqlite::Result<()> {
    let Some(old) = get(connection, key)? else { return Ok(()) };
    let mut remove = connection.prepare_cached(
        "DELETE FROM entries WHERE index_name = ?1 AND value = ?2 AND partition = ?3 AND sort = ?4",
    )?;
    for entry in old.indexes {
        remove.execute([entry.index.as_str(), &entry.value, &key.partition, &key.sort])?;
    }
    Ok(())
}
