//! Sweeps room for tasks that nobody released, once a minute however often something is due.

use std::sync::atomic::{AtomicI64, Ordering};

use yuba_core::time::Span;
use yuba_ports::{PortError, Ports};

/// The shortest pause between two sweeps: a call of the schedule comes each minute, some a little early.
const PAUSE: Span = Span::seconds(50);

/// When room was last swept for by this process.
#[derive(Debug, Default)]
pub struct Sweep {
    last: AtomicI64,
}

impl Sweep {
    /// Sweeps where the last time is a minute ago, or this is the first.
    pub async fn once_a_minute(&self, ports: &Ports) -> Result<(), PortError> {
        let now = ports.clock.now().0;
        // A clock that was set back does not put sweeping off.
        if (0..PAUSE.0).contains(&(now - self.last.load(Ordering::Relaxed))) {
            return Ok(());
        }
        ports.launcher.sweep().await?;
        self.last.store(now, Ordering::Relaxed);
        Ok(())
    }
}
