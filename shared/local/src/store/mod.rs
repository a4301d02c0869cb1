//! `Store` on SQLite.

mod query;
mod rows;

use async_trait::async_trait;
use rusqlite::Connection;
use yuba_core::record::Key;
use yuba_ports::{Committed, Item, Page, PortError, Query, Store, Write};

use crate::database::Database;

/// Records in a SQLite file.
#[derive(Clone)]
pub struct LocalStore(Database);

impl LocalStore {
    /// Records in the tables of a database.
    pub fn new(database: Database) -> Self {
        Self(database)
    }
}

#[async_trait]
impl Store for LocalStore {
    async fn get(&self, key: &Key) -> Result<Option<Item>, PortError> {
        let key = key.clone();
        self.0.read("reading a record", move |connection| rows::get(connection, &key)).await
    }

    async fn commit(&self, writes: Vec<Write>) -> Result<Committed, PortError> {
        Write::check_all(&writes)?;
        let work = move |connection: &Connection| commit(connection, &writes);
        self.0.write("writing records", work, |_| {}).await
    }

    async fn query(&self, query: Query) -> Result<Page, PortError> {
        let listing = query::Listing::of(query)?;
        self.0.read("listing records", move |connection| listing.page(connection)).await
    }
}

fn commit(connection: &Connection, writes: &[Write]) -> rusqlite::Result<Committed> {
    let mut versions = Vec::with_capacity(writes.len());
    for write in writes {
        let version = rows::version(connection, write.key())?;
        if !write.expected().is_met_by(version) {
            return Ok(Committed::Conflict(write.key().clone()));
        }
        versions.push(version);
    }
    for (write, version) in writes.iter().zip(versions) {
        match write {
            Write::Put { key, body, indexes, .. } => {
                rows::remove_entries(connection, key)?;
                rows::put(connection, key, version.unwrap_or(0) + 1, (body, indexes))?;
            }
            Write::Delete { key, .. } => {
                rows::remove_entries(connection, key)?;
                rows::delete(connection, key)?;
            }
            Write::Check { .. } => {}
        }
    }
    Ok(Committed::Done)
}
