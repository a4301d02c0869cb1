//! Waiting for a stack: until its current or last run is in a state, as `kubectl wait` does.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use yuba_api::wire::{StackDetail, StackItem};

use super::args::Wait;
use super::ask::Asker;
use super::{print, tell};
use crate::done::code;

/// How often the server is asked.
const EVERY: Duration = Duration::from_millis(200);

/// How long the last look may take: a healthy server answers it after the time is over.
const LAST_LOOK: Duration = Duration::from_secs(2);

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
                tell(&format!("error: {} {} after {timeout}", wait.stack, stands(&detail.stack)));
                return Ok(ExitCode::from(code::FAILED));
            }
            Err(_) => return found.map(|_| ExitCode::SUCCESS),
        }
    }
}

/// Looks once; a server that does not answer is given up soon after the time is over.
async fn look(asker: &Asker<'_>, stack: &str, until: Instant) -> Result<StackDetail> {
    let answer = async { asker.client.get(&asker.path(stack).await?, &[]).await };
    match tokio::time::timeout_at((until.max(Instant::now()) + LAST_LOOK).into(), answer).await {
        Ok(found) => found,
        Err(_) => bail!("{} accepts connections, but did not answer in time", asker.options.server()),
    }
}

fn stands(stack: &StackItem) -> String {
    match (stack.state.as_str(), stack.status.as_str()) {
        ("", "") => "still had no run".to_owned(),
        ("", status) => format!("still had no run ({status})"),
        (state, status) => format!("is still {state} ({status})"),
    }
}

fn is_there(detail: &StackDetail, wait: &Wait) -> bool {
    let newest = detail.runs.first().map(|run| run.revision.as_str()).unwrap_or_default();
    let commit = newest.rsplit(':').next().unwrap_or_default();
    let revision =
        wait.revision.as_deref().is_none_or(|wanted| commit.starts_with(wanted) || newest == wanted);
    revision && wait.states.iter().any(|state| state.to_string() == detail.stack.state)
}
