//! Being asked to stop: SIGTERM or Ctrl-C.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// Tells everybody that the server is to stop. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Stopping(watch::Receiver<bool>);

impl Stopping {
    /// Asked by signals. A second one ends the process at once: what was under way is taken up by the next server.
    pub(crate) fn on_signals() -> anyhow::Result<Self> {
        let (sender, receiver) = watch::channel(false);
        let listen = |kind| signal(kind).context("signals cannot be received");
        let (mut terminate, mut interrupt) =
            (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
        tokio::spawn(async move {
            either(&mut terminate, &mut interrupt).await;
            sender.send_replace(true);
            either(&mut terminate, &mut interrupt).await;
            std::process::exit(130);
        });
        Ok(Self(receiver))
    }

    /// Returns when the server is asked to stop.
    pub(crate) async fn asked(&self) {
        // Where nobody can ask any more, the process is about to end.
        let _ = self.0.clone().wait_for(|asked| *asked).await;
    }

    /// Whether the server was asked to stop.
    pub(crate) fn is_asked(&self) -> bool {
        *self.0.borrow()
    }
}

async fn either(terminate: &mut Signal, interrupt: &mut Signal) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
