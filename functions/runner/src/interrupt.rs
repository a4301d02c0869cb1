//! What ends an attempt before its time: an order with a heartbeat, SIGTERM, the time bound, a claim that is closed.
//! Whoever runs the engine watches this, interrupts it once, and waits until it has saved its state.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Why the attempt is to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Interruption {
    /// The server, or whoever sent SIGTERM, says so.
    Told(String),
    /// It took longer than its bound, written for people.
    TimedOut(String),
    /// The claim counts no more: nothing may be reported under it either.
    Fenced(String),
}

/// Whether, and why, the attempt is to stop. Cheap to clone; the first reason stands, but for a closed claim.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt {
    reason: watch::Sender<Option<Interruption>>,
    signalled: watch::Sender<bool>,
    in_vain: watch::Sender<Option<Duration>>,
}

impl Interrupt {
    /// No interruption yet.
    pub(crate) fn new() -> Self {
        Self {
            reason: watch::Sender::new(None),
            signalled: watch::Sender::new(false),
            in_vain: watch::Sender::new(None),
        }
    }

    /// Interrupts the attempt.
    pub(crate) fn raise(&self, why: Interruption) {
        self.reason.send_if_modified(|reason| {
            let counts = reason.is_none() || matches!(why, Interruption::Fenced(_));
            if counts {
                *reason = Some(why);
            }
            counts
        });
    }

    /// Why the attempt is to stop, if it is.
    pub(crate) fn reason(&self) -> Option<Interruption> {
        self.reason.borrow().clone()
    }

    /// The engine was interrupted, and is killed because it still runs after this time.
    pub(crate) fn in_vain(&self, patience: Duration) {
        self.in_vain.send_replace(Some(patience));
    }

    /// After which time the engine was killed, if it was.
    pub(crate) fn killed_after(&self) -> Option<Duration> {
        *self.in_vain.borrow()
    }

    /// Waits until the attempt is to stop.
    pub(crate) async fn raised(&self) {
        let mut receiver = self.reason.subscribe();
        // The sender lives in `self`, so waiting cannot fail before a reason is there.
        let _ = receiver.wait_for(Option::is_some).await;
    }

    /// Waits until the process has got a signal to stop, and then for a time. Of several signals the first counts.
    pub(crate) async fn signalled_for(&self, time: Duration) {
        let mut receiver = self.signalled.subscribe();
        let _ = receiver.wait_for(|signalled| *signalled).await;
        tokio::time::sleep(time).await;
    }

    /// Raises the interrupt when the process gets SIGTERM or SIGINT.
    pub(crate) async fn watch_signals(self) {
        let (Ok(mut terminate), Ok(mut interrupt)) =
            (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
        else {
            return std::future::pending().await;
        };
        loop {
            let name = tokio::select! {
                _ = terminate.recv() => "SIGTERM",
                _ = interrupt.recv() => "SIGINT",
            };
            self.signal(name);
        }
    }

    /// The process has got a signal to stop.
    pub(crate) fn signal(&self, name: &str) {
        self.signalled.send_replace(true);
        self.raise(Interruption::Told(format!("the task was told to stop ({name})")));
    }

    /// Raises the interrupt when the phase has taken longer than its bound.
    pub(crate) async fn watch_bound(self, bound: yuba_core::time::Span) {
        tokio::time::sleep(bound.to_std()).await;
        self.raise(Interruption::TimedOut(bound.to_string()));
        std::future::pending::<()>().await;
    }
}
