//! Waiting for a stack: until its current or last run is in a state, as `kubectl wait` does.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use yuba_api::wire::StackDetail;

use super::args::Wait;
use super::ask::Asker;
use super::{print, tell};
use crate::done::code;

/// How often the server is asked.
const EVERY: Duration = Duration::from_millis(200);

/// Waits until the stack is where it is wanted, or the time is over.
pub(crate) async fn run(asker: &Asker<'_>, wait: &Wait) -> Result<ExitCode> {
    let timeout = wait.timeout;
    let until = Instant::now() + timeout.to_std();
    loop {
        let found = look(asker, &wait.stack, until).await;
        match &found {
            Ok(detail) if is_there(detail, wait) => {
                print(&format!("{} is {}: {}\n", wait.stack, detail.stack.state, detail.stack.status))?;
                return Ok(ExitCode::SUCCESS);
            }
            _ if Instant::now() < until => tokio::time::sleep(EVERY).await,
            Ok(detail) => {
                let (state, status) = (&detail.stack.state, &detail.stack.status);
                tell(&format!("error: {} is still {state} after {timeout}: {status}", wait.stack));
                return Ok(ExitCode::from(code::FAILED));
            }
            Err(_) => return found.map(|_| ExitCode::SUCCESS),
        }
    }
}

/// Looks once; a server that does not answer is given up when the time is over.
async fn look(asker: &Asker<'_>, stack: &str, until: Instant) -> Result<StackDetail> {
    let answer = async { asker.client.get(&asker.path(stack).await?, &[]).await };
    match tokio::time::timeout_at(until.into(), answer).await {
        Ok(found) => found,
        Err(_) => bail!("{} accepts connections, but did not answer in time", asker.options.server()),
    }
}

fn is_there(detail: &StackDetail, wait: &Wait) -> bool {
    let newest = detail.runs.first().map(|run| run.revision.as_str()).unwrap_or_default();
    let commit = newest.rsplit(':').next().unwrap_or_default();
    let revision =
        wait.revision.as_deref().is_none_or(|wanted| commit.starts_with(wanted) || newest == wanted);
    revision && wait.states.iter().any(|state| state.to_string() == detail.stack.state)
}
