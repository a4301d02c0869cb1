//! The gate that every call waits at: a process that is polled gets past exactly one.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Waits until the process is polled once more.
pub(crate) fn gate() -> Gate {
    Gate { passed: false }
}

/// See [`gate`].
#[derive(Debug)]
pub(crate) struct Gate {
    passed: bool,
}

impl Future for Gate {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.passed {
            return Poll::Ready(());
        }
        self.passed = true;
        // Combinators that hold many futures poll only those that were woken.
        context.waker().wake_by_ref();
        Poll::Pending
    }
}
