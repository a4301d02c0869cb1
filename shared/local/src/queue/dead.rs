//! Messages that could not be handled, in a table beside those that wait.

use rusqlite::{Connection, params};
use yuba_core::message::Message;
use yuba_core::time::Timestamp;
use yuba_ports::{DeadLetter, QueueName};

use super::{insert, remove};

/// Moves a message that waits to the dead letters.
pub(super) fn bury(connection: &Connection, id: u64, why: &str, since: Timestamp) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO dead_letters (queue, body, since, why) SELECT queue, body, ?2, ?3 FROM messages WHERE id = ?1",
        )?
        .execute(params![id, since.0, why])?;
    remove(connection, id)
}

/// The first dead letters of a queue.
pub(super) fn list(
    connection: &Connection,
    queue: QueueName,
    most: usize,
) -> rusqlite::Result<Vec<DeadLetter>> {
    let sql = "SELECT id, body, since, why FROM dead_letters WHERE queue = ?1 ORDER BY id LIMIT ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let letters = statement.query_map(params![queue.as_str(), limit(most)], |row| {
        let (id, body): (u64, String) = (row.get(0)?, row.get(1)?);
        let group = read(&body).map(|message| message.group()).unwrap_or_default();
        let (since, why) = (Timestamp(row.get(2)?), Some(row.get(3)?));
        Ok(DeadLetter { id: id.to_string(), group, body, since, why })
    })?;
    letters.collect()
}

/// Moves the first dead letters of a queue to the end of those that wait; their new ids. What cannot be read stays.
pub(super) fn revive(
    connection: &Connection,
    queue: QueueName,
    most: usize,
) -> rusqlite::Result<Vec<(u64, Message)>> {
    let mut revived = Vec::new();
    for letter in list(connection, queue, most)? {
        let Some(message) = read(&letter.body) else { continue };
        connection.prepare_cached("DELETE FROM dead_letters WHERE id = ?1")?.execute([&letter.id])?;
        revived.push((insert(connection, &message)?, message));
    }
    Ok(revived)
}

fn read(body: &str) -> Option<Message> {
    serde_json::from_str(body).ok()
}

fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}
