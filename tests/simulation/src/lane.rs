//! Who does things in a simulation, and to whom: the columns of its chart.

use crate::people::{NAMES, STRANGER};

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// People.
    People,
    /// The Git host.
    GitHost,
    /// The functions that answer requests: `webhook`, `api`, `tasks`.
    Server,
    /// `scheduler`.
    Scheduler,
    /// `notifier`.
    Notifier,
    /// The queue.
    Queue,
    /// `source`.
    Source,
    /// `orchestrator`.
    Orchestrator,
    /// Records.
    Store,
    /// Objects.
    Blobs,
    /// Secrets and roles.
    Secrets,
    /// Where events go.
    Publisher,
    /// What messages are sent to.
    Services,
    /// What starts tasks.
    Launcher,
    /// Tasks.
    Task,
    /// The cloud, with the state backends.
    Cloud,
    /// Chance.
    World,
}

impl Lane {
    /// The lane of a process, by its name.
    pub(crate) fn of(who: &str) -> Self {
        match who.split(' ').next().unwrap_or_default() {
            "server" => Self::Server,
            "scheduler" => Self::Scheduler,
            "source" => Self::Source,
            "orchestrator" => Self::Orchestrator,
            "notifier" => Self::Notifier,
            "task" => Self::Task,
            name if NAMES.contains(&name) || name == STRANGER => Self::People,
            _ => Self::World,
        }
    }

    /// Its name over its column.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::People => "people",
            Self::GitHost => "Git host",
            Self::Server => "server",
            Self::Scheduler => "scheduler",
            Self::Notifier => "notifier",
            Self::Queue => "queue",
            Self::Source => "source",
            Self::Orchestrator => "orchestrator",
            Self::Store => "store",
            Self::Blobs => "blobs",
            Self::Secrets => "secrets",
            Self::Publisher => "publisher",
            Self::Services => "Slack and hook",
            Self::Launcher => "launcher",
            Self::Task => "task",
            Self::Cloud => "cloud",
            Self::World => "the world",
        }
    }
}
