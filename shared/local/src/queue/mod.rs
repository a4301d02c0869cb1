//! `Queue` on SQLite: the messages lie in a table until they are acknowledged; which of them is out is known to this
//! process alone. A new process therefore finds them all waiting, which is right: whoever had received them is gone.

mod dead;
mod line;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use rusqlite::{Connection, params};
use tokio::sync::Notify;
use tokio::time::Instant;
use yuba_core::message::Message;
use yuba_core::time::Span;
use yuba_ports::{Clock, DeadLetter, PortError, Queue, QueueName, Received};

use crate::database::Database;
use line::Line;

/// Messages in a SQLite file.
#[derive(Clone)]
pub struct LocalQueue {
    database: Database,
    clock: Arc<dyn Clock>,
    sources: Arc<Waiting>,
    stacks: Arc<Waiting>,
    notices: Arc<Waiting>,
}

/// The messages of one queue, and who waits for them.
#[derive(Default)]
struct Waiting {
    line: Mutex<Line>,
    news: Notify,
}

impl LocalQueue {
    /// How long a received message is hidden: longer than any handler of `yuba serve` may take.
    pub const VISIBILITY: Span = Span::minutes(15);

    /// Opens the queue: every message that is stored waits. One that cannot be read becomes a dead letter.
    pub async fn open(database: Database, clock: Arc<dyn Clock>) -> Result<Self, PortError> {
        let stored = database.read("reading the queue", stored).await?;
        let queue = Self {
            database,
            clock,
            sources: Arc::default(),
            stacks: Arc::default(),
            notices: Arc::default(),
        };
        let now = queue.clock.now();
        for (id, body) in stored {
            match serde_json::from_str::<Message>(&body) {
                Ok(message) => queue.of(QueueName::of(&message)).line().add(id, message, now),
                Err(error) => queue.bury_unreadable(id, &error).await?,
            }
        }
        Ok(queue)
    }

    async fn bury_unreadable(&self, id: u64, error: &serde_json::Error) -> Result<(), PortError> {
        tracing::error!(id, %error, "a message in the queue cannot be read: `yuba queue list` has it");
        let (why, since) = (format!("it cannot be read: {error}"), self.clock.now());
        let work = move |connection: &Connection| dead::bury(connection, id, &why, since);
        self.database.write("setting a message aside", work, |()| {}).await
    }

    fn of(&self, queue: QueueName) -> &Arc<Waiting> {
        match queue {
            QueueName::Sources => &self.sources,
            QueueName::Stacks => &self.stacks,
            QueueName::Notices => &self.notices,
        }
    }

    /// Takes what may be received now; or says for how long nothing will be, unless there is news.
    fn take(&self, queue: QueueName, most: usize) -> Result<Vec<Received>, Option<Span>> {
        let now = self.clock.now();
        let waiting = self.of(queue);
        let mut line = waiting.line();
        let received = line.take(most, now, now + Self::VISIBILITY);
        if received.is_empty() {
            return Err(line.next_visible().map(|at| at.since(now)));
        }
        if line.has_ready() {
            waiting.news.notify_one();
        }
        Ok(received)
    }
}

#[async_trait]
impl Queue for LocalQueue {
    async fn send(&self, messages: Vec<Message>) -> Result<(), PortError> {
        let (queue, now) = (self.clone(), self.clock.now());
        let of = move |message: &Message| queue.of(QueueName::of(message)).clone();
        let is_new = of.clone();
        let work = move |connection: &Connection| {
            let fresh = messages.into_iter().filter(|message| is_new(message).line().is_new(message, now));
            fresh.map(|message| Ok((insert(connection, &message)?, message))).collect()
        };
        let after = move |added: &Vec<(u64, Message)>| {
            for (id, message) in added {
                let waiting = of(message);
                waiting.line().add(*id, message.clone(), now);
                waiting.news.notify_one();
            }
        };
        self.database.write("sending messages", work, after).await.map(drop)
    }

    async fn receive(&self, queue: QueueName, most: usize, wait: Span) -> Result<Vec<Received>, PortError> {
        let deadline = Instant::now() + wait.to_std();
        loop {
            let again = match self.take(queue, most) {
                Ok(received) => return Ok(received),
                Err(Some(hidden)) => deadline.min(Instant::now() + hidden.to_std()),
                Err(None) => deadline,
            };
            let news = self.of(queue).news.notified();
            if tokio::time::timeout_at(again, news).await.is_err() && Instant::now() >= deadline {
                return Ok(self.take(queue, most).unwrap_or_default());
            }
        }
    }

    async fn ack(&self, received: &Received) -> Result<(), PortError> {
        let waiting = self.of(QueueName::of(&received.message)).clone();
        let Some(id) = waiting.line().held(&received.receipt) else { return Ok(()) };
        let work = move |connection: &Connection| remove(connection, id);
        let after = move |(): &()| {
            waiting.line().remove(id);
            waiting.news.notify_one();
        };
        self.database.write("acknowledging a message", work, after).await
    }

    async fn release(&self, received: &Received, after: Span) -> Result<(), PortError> {
        let waiting = self.of(QueueName::of(&received.message));
        waiting.line().release(&received.receipt, self.clock.now() + after);
        waiting.news.notify_one();
        Ok(())
    }

    async fn set_aside(&self, received: &Received, why: &str) -> Result<(), PortError> {
        let waiting = self.of(QueueName::of(&received.message)).clone();
        let Some(id) = waiting.line().held(&received.receipt) else { return Ok(()) };
        let (why, since) = (why.to_owned(), self.clock.now());
        let work = move |connection: &Connection| dead::bury(connection, id, &why, since);
        let after = move |(): &()| {
            waiting.line().remove(id);
            waiting.news.notify_one();
        };
        self.database.write("setting a message aside", work, after).await
    }

    async fn dead_letters(&self, queue: QueueName, most: usize) -> Result<Vec<DeadLetter>, PortError> {
        self.database
            .read("reading dead letters", move |connection| dead::list(connection, queue, most))
            .await
    }

    async fn redrive(&self, queue: QueueName, most: usize) -> Result<usize, PortError> {
        let (waiting, now) = (self.of(queue).clone(), self.clock.now());
        let work = move |connection: &Connection| dead::revive(connection, queue, most);
        let after = move |revived: &Vec<(u64, Message)>| {
            for (id, message) in revived {
                waiting.line().add(*id, message.clone(), now);
                waiting.news.notify_one();
            }
        };
        self.database.write("sending dead letters again", work, after).await.map(|revived| revived.len())
    }
}

impl Waiting {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stored(connection: &Connection) -> rusqlite::Result<Vec<(u64, String)>> {
    let mut statement = connection.prepare("SELECT id, body FROM messages ORDER BY id")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

fn insert(connection: &Connection, message: &Message) -> rusqlite::Result<u64> {
    let body = serde_json::to_string(message)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    connection
        .prepare_cached("INSERT INTO messages (queue, body) VALUES (?1, ?2) RETURNING id")?
        .query_row(params![QueueName::of(message).as_str(), body], |row| row.get(0))
}

fn remove(connection: &Connection, id: u64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM messages WHERE id = ?1")?.execute([id]).map(drop)
}
