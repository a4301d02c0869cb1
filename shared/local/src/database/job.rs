//! One request to write, with its answer.

use std::sync::Arc;

use rusqlite::{Connection, ErrorCode};
use tokio::sync::oneshot;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// By itself; others in the transaction were not touched.
    #[error(transparent)]
    Own(rusqlite::Error),
    /// With the transaction.
    #[error(transparent)]
    Shared(Arc<rusqlite::Error>),
}

impl Failure {
    /// SQLite's code for it.
    pub(crate) fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Own(error) => error.sqlite_error_code(),
            Self::Shared(error) => error.sqlite_error_code(),
        }
    }
}

/// A request of any kind.
pub(crate) trait Job: Send {
    /// Does it within a savepoint; `false` undoes it.
    fn run(&mut self, connection: &Connection) -> bool;

    /// Answers, after the transaction was committed or failed.
    fn finish(self: Box<Self>, failure: Option<Arc<rusqlite::Error>>);
}

/// A request that answers with a `T`.
pub(crate) struct Work<T, Do, After> {
    todo: Option<Do>,
    outcome: Option<rusqlite::Result<T>>,
    after: After,
    reply: oneshot::Sender<Result<T, Failure>>,
}

impl<T, Do, After> Work<T, Do, After> {
    /// A request that nobody has begun.
    pub(crate) fn new(work: Do, after: After, reply: oneshot::Sender<Result<T, Failure>>) -> Self {
        Self { todo: Some(work), outcome: None, after, reply }
    }
}

impl<T, Do, After> Job for Work<T, Do, After>
where
    T: Send,
    Do: FnOnce(&Connection) -> rusqlite::Result<T> + Send,
    After: FnOnce(&T) + Send,
{
    fn run(&mut self, connection: &Connection) -> bool {
        self.outcome = self.todo.take().map(|work| work(connection));
        matches!(self.outcome, Some(Ok(_)))
    }

    fn finish(self: Box<Self>, failure: Option<Arc<rusqlite::Error>>) {
        let answer = match (failure, self.outcome) {
            (_, Some(Err(own))) => Err(Failure::Own(own)),
            (Some(shared), _) => Err(Failure::Shared(shared)),
            (None, Some(Ok(value))) => {
                (self.after)(&value);
                Ok(value)
            }
            // Not begun, and yet committed: cannot be. The sender is dropped, which the waiter reads as "closed".
            (None, None) => return,
        };
        // Nobody may wait any more; the write stands all the same.
        drop(self.reply.send(answer));
    }
}
