//! `Launcher`: starts, describes and kills the tasks of attempts.

use async_trait::async_trait;
use secrecy::SecretString;
use yuba_core::id::AttemptId;
use yuba_core::time::Span;

use crate::error::PortError;

/// What a task is started with. The attempt's id is the client token: starting twice starts one task.
#[derive(Debug, Clone)]
pub struct StartTask {
    /// The attempt.
    pub attempt: AttemptId,
    /// The single-use token that it claims with.
    pub token: SecretString,
}

/// What became of a start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaunchOutcome {
    /// The task runs, or ran already.
    Started,
    /// There is no room now; ask again once the span has passed.
    NoRoom(Span),
    /// A cap is reached, or others are first: it has a place in the line, and its stack is woken when its turn comes. Ask again
    /// once the span has passed all the same.
    Waits {
        /// When to ask again.
        wait: Span,
        /// For people: which cap.
        why: String,
    },
}

/// What a launcher knows of an attempt's task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskStatus {
    /// None was started.
    NeverStarted,
    /// It, or something it started, runs.
    Running,
    /// It has stopped, and all that it started.
    Stopped {
        /// How, for people: `exit code 0`, `signal 9`, `not known`.
        how: String,
    },
}

/// Tasks. On AWS ECS, on one machine child processes.
#[async_trait]
pub trait Launcher: Send + Sync {
    /// Starts the task of an attempt.
    async fn start(&self, start: StartTask) -> Result<LaunchOutcome, PortError>;

    /// Says what became of it. `Stopped` is final: nothing of it can act any more.
    async fn describe(&self, attempt: AttemptId) -> Result<TaskStatus, PortError>;

    /// Kills it and all that it started, without asking.
    async fn kill(&self, attempt: AttemptId) -> Result<(), PortError>;

    /// The attempt has reported, or its task has stopped: the room that was kept for it is for others. Nothing to do where no
    /// room is kept.
    async fn release(&self, attempt: AttemptId) -> Result<(), PortError> {
        let _ = attempt;
        Ok(())
    }

    /// Releases what attempts that ended still hold, and wakes those who wait for room that there is: what was missed, because
    /// somebody crashed in between. To be called once a minute.
    async fn sweep(&self) -> Result<(), PortError> {
        Ok(())
    }
}
