//! Processes: a function that handles one message or request, a task, a person. Each is a future that is polled from
//! gate to gate; dropping it is a crash.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use yuba_core::id::AttemptId;
use yuba_core::time::{Span, Timestamp};

use crate::world::Wait;

/// What a process does, until it ends.
pub(crate) type Doing = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A process.
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) doing: Doing,
    pub(crate) wait: Wait,
    /// How far its clock is off.
    pub(crate) skew: Span,
}

/// What kind of process it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Handles a message.
    Worker,
    /// Answers a request.
    Server,
    /// Looks for what is due.
    Tick,
    /// Carries an attempt out.
    Task(AttemptId),
    /// Asks for something and waits for the answer.
    Person,
}

impl Process {
    /// Whether it can go on now.
    pub(crate) fn is_ready(&self, now: Timestamp, is_answered: impl Fn(u64) -> bool) -> bool {
        match self.wait {
            Wait::Turn => true,
            Wait::Until(at) => at <= now,
            Wait::Answer(answer, until) => until <= now || is_answered(answer),
        }
    }

    /// When it goes on by itself, if it waits for a point in time.
    pub(crate) fn wakes_at(&self) -> Option<Timestamp> {
        match self.wait {
            Wait::Turn => None,
            Wait::Until(at) | Wait::Answer(_, at) => Some(at),
        }
    }

    /// Whether it runs where crashes are to be expected.
    pub(crate) fn may_crash(&self) -> bool {
        matches!(self.kind, Kind::Worker | Kind::Server | Kind::Tick)
    }
}

impl Kind {
    /// The attempt whose task it is.
    pub(crate) fn task(self) -> Option<AttemptId> {
        match self {
            Self::Task(attempt) => Some(attempt),
            _ => None,
        }
    }
}

/// The value of a future that never waits.
pub(crate) fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    let context = &mut Context::from_waker(Waker::noop());
    match Box::pin(future).as_mut().poll(context) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
