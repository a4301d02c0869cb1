//! The launcher of the world: tasks start late, never, or at once; they are killed; they are told of when they stop.

use async_trait::async_trait;
use secrecy::SecretString;
use yuba_core::id::AttemptId;
use yuba_core::time::{Span, Timestamp};
use yuba_core::token::{TokenUse, task_token};
use yuba_ports::{LaunchOutcome, Launcher, PortError, StartTask, TaskStatus, Write};

use super::{KEY, Spawn, State, World};
use crate::lane::Lane;
use crate::mutation::Mutation;

/// What the launcher knows of a task.
#[derive(Debug, Clone)]
pub(crate) enum Launched {
    /// It was taken in, and begins later; until then nobody is told of it.
    Later(Timestamp, StartTask),
    /// It runs, as a process.
    Running(Option<u64>),
    /// It has stopped.
    Stopped(String),
}

#[async_trait]
impl Launcher for World {
    async fn start(&self, start: StartTask) -> Result<LaunchOutcome, PortError> {
        let attempt = start.attempt;
        let started = async {
            let mut state = self.state();
            let is_forgotten = state.mutation == Some(Mutation::StartForgotten);
            Ok(if is_forgotten { LaunchOutcome::Started } else { state.launch(start) })
        };
        self.call(Lane::Launcher, || format!("starts the task of {attempt}"), started).await
    }

    async fn describe(&self, attempt: AttemptId) -> Result<TaskStatus, PortError> {
        let described = async {
            let state = self.state();
            if state.mutation == Some(Mutation::LostWithoutAsking) {
                return Ok(TaskStatus::Stopped { how: "not asked".to_owned() });
            }
            Ok(match state.launched.get(&attempt) {
                None | Some(Launched::Later(..)) => TaskStatus::NeverStarted,
                Some(Launched::Running(_)) => TaskStatus::Running,
                Some(Launched::Stopped(how)) => TaskStatus::Stopped { how: how.clone() },
            })
        };
        self.call(Lane::Launcher, || format!("asks after the task of {attempt}"), described).await
    }

    async fn kill(&self, attempt: AttemptId) -> Result<(), PortError> {
        self.call(Lane::Launcher, || format!("kills the task of {attempt}"), async {
            self.state().kill(attempt, "signal 9");
            Ok(())
        })
        .await
    }
}

impl State {
    fn launch(&mut self, start: StartTask) -> LaunchOutcome {
        self.is_launched(start.attempt);
        if self.launched.contains_key(&start.attempt) {
            return LaunchOutcome::Started;
        }
        let rate = self.rates.start;
        if self.goes_wrong(rate / 3) {
            return LaunchOutcome::NoRoom(Span(self.chance.between(1_000, 60_000)));
        }
        let attempt = start.attempt;
        let is_wrong = self.goes_wrong(rate);
        let launched = match self.chance.below(2) {
            0 if is_wrong => Launched::Later(self.now + Span(self.chance.between(1_000, 1_800_000)), start),
            _ if is_wrong => Launched::Stopped("the image could not be pulled".to_owned()),
            _ => {
                self.spawn.push(Spawn::Task { start });
                Launched::Running(None)
            }
        };
        self.launched.insert(attempt, launched);
        LaunchOutcome::Started
    }

    /// A planted fault starts tasks before their attempts are committed.
    pub(super) fn start_early(&mut self, writes: &[Write]) {
        for attempt in self.started_early(writes) {
            let token = SecretString::from(task_token(KEY.as_bytes(), TokenUse::Claim, attempt));
            self.launch(StartTask { attempt, token });
        }
    }

    /// Starts the tasks that were taken in before and whose time has come.
    pub(crate) fn start_late_tasks(&mut self) {
        let now = self.now;
        for launched in self.launched.values_mut() {
            let Launched::Later(at, start) = launched else { continue };
            if *at <= now {
                self.spawn.push(Spawn::Task { start: start.clone() });
                *launched = Launched::Running(None);
            }
        }
    }

    /// When the next of them begins.
    pub(crate) fn next_late_task(&self) -> Option<Timestamp> {
        let later = |launched: &Launched| match launched {
            Launched::Later(at, _) => Some(*at),
            _ => None,
        };
        self.launched.values().filter_map(later).min()
    }

    /// A task stops: its process, if it has one, is to end.
    pub(crate) fn kill(&mut self, attempt: AttemptId, how: &str) {
        let Some(launched) = self.launched.get_mut(&attempt) else { return };
        if let Launched::Running(Some(process)) = launched {
            self.alive.remove(process);
        }
        if !matches!(launched, Launched::Stopped(_)) {
            *launched = Launched::Stopped(how.to_owned());
        }
    }
}
