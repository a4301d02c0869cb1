//! Tasks that are recorded and never run; the test says what becomes of them.

use std::collections::HashMap;
use std::sync::Mutex;

use async_trait::async_trait;
use yuba_core::id::AttemptId;
use yuba_core::time::Span;

use super::lock;
use crate::{LaunchOutcome, Launcher, PortError, StartTask, TaskStatus};

/// Tasks in memory.
#[derive(Debug, Default)]
pub struct MemoryLauncher(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    started: Vec<StartTask>,
    killed: Vec<AttemptId>,
    statuses: HashMap<AttemptId, TaskStatus>,
    no_room: Option<Span>,
}

impl MemoryLauncher {
    /// What was started, once for each attempt, in order.
    pub fn started(&self) -> Vec<StartTask> {
        lock(&self.0).started.clone()
    }

    /// What was killed, in order.
    pub fn killed(&self) -> Vec<AttemptId> {
        lock(&self.0).killed.clone()
    }

    /// Says what has become of a task.
    pub fn set_status(&self, attempt: AttemptId, status: TaskStatus) {
        lock(&self.0).statuses.insert(attempt, status);
    }

    /// Says that a task has stopped.
    pub fn stop(&self, attempt: AttemptId, how: &str) {
        self.set_status(attempt, TaskStatus::Stopped { how: how.to_owned() });
    }

    /// From now on there is no room for new tasks (`Some`), or there is (`None`).
    pub fn set_no_room(&self, ask_again_after: Option<Span>) {
        lock(&self.0).no_room = ask_again_after;
    }
}

#[async_trait]
impl Launcher for MemoryLauncher {
    async fn start(&self, start: StartTask) -> Result<LaunchOutcome, PortError> {
        let mut state = lock(&self.0);
        if state.statuses.contains_key(&start.attempt) {
            return Ok(LaunchOutcome::Started);
        }
        if let Some(span) = state.no_room {
            return Ok(LaunchOutcome::NoRoom(span));
        }
        state.statuses.insert(start.attempt, TaskStatus::Running);
        state.started.push(start);
        Ok(LaunchOutcome::Started)
    }

    async fn describe(&self, attempt: AttemptId) -> Result<TaskStatus, PortError> {
        Ok(lock(&self.0).statuses.get(&attempt).cloned().unwrap_or(TaskStatus::NeverStarted))
    }

    async fn kill(&self, attempt: AttemptId) -> Result<(), PortError> {
        let mut state = lock(&self.0);
        state.killed.push(attempt);
        if let Some(status) = state.statuses.get_mut(&attempt)
            && *status == TaskStatus::Running
        {
            *status = TaskStatus::Stopped { how: "signal 9".to_owned() };
        }
        Ok(())
    }
}
