//! Verbs that follow the runs they ask for: all are asked for first, then followed one after the other.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use reqwest::Method;
use yuba_api::wire::{AskBody, RequestState, StackDetail};

use super::args::Stacks;
use super::ask::{Asker, said};
use super::follow::{Followed, follow};
use super::get;
use super::http::Answer;
use crate::done::code::{DRIFT, FAILED, FINE, REFUSED};

/// How often is looked for a run that is still to be made.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// Reconciles stacks, and waits for what comes of it.
pub(super) async fn reconcile(asker: &Asker<'_>, stacks: Stacks) -> Result<ExitCode> {
    let mut worst = FINE;
    for asked in ask(asker, stacks, "reconcile").await? {
        worst = worst.max(match asked.outcome(asker).await? {
            Came::Refused => REFUSED,
            Came::Run(Followed::Failed) => FAILED,
            Came::Nothing | Came::Run(Followed::Ended | Followed::Drifted) => FINE,
        });
    }
    Ok(ExitCode::from(worst))
}

/// Checks stacks for drift, and describes those that have some. A refusal counts only for stacks that were named: one
/// suspended stack among all must not hide from a script what was found of the others.
pub(super) async fn check_drift(asker: &Asker<'_>, stacks: Stacks) -> Result<ExitCode> {
    let refused = if stacks.names.is_empty() { FINE } else { REFUSED };
    let mut worst = FINE;
    for asked in ask(asker, stacks, "drift-check").await? {
        worst = worst.max(match asked.outcome(asker).await? {
            Came::Refused => refused,
            Came::Run(Followed::Failed) => FAILED,
            Came::Nothing | Came::Run(Followed::Ended) => FINE,
            Came::Run(Followed::Drifted) => {
                get::describe(asker, &asked.name).await?;
                DRIFT
            }
        });
    }
    Ok(ExitCode::from(worst))
}

/// A stack that was asked for something.
struct Asked {
    name: String,
    /// Where it lies in the API.
    path: String,
    run: Expected,
}

/// The run that comes of a request.
enum Expected {
    /// None: it was refused.
    Refused,
    /// None: there is nothing to do.
    Nothing,
    /// This one.
    Run(String),
    /// One that is still to be made, when this one has ended.
    After(Option<String>),
}

/// What came of a request.
enum Came {
    /// It was refused.
    Refused,
    /// There was nothing to do.
    Nothing,
    /// A run, which was followed.
    Run(Followed),
}

async fn ask(asker: &Asker<'_>, stacks: Stacks, verb: &str) -> Result<Vec<Asked>> {
    let names = asker.names(&stacks).await?;
    let body = asker.signed(AskBody::default(), stacks.message);
    let mut all = Vec::with_capacity(names.len());
    for name in names {
        let path = asker.path(&name).await?;
        let answer = asker.client.ask(Method::POST, &format!("{path}/{verb}"), &body).await?;
        said(&name, &answer)?;
        let run = match answer {
            Answer::Refused(_) => Expected::Refused,
            Answer::Done(RequestState { run: Some(run), .. }) => Expected::Run(run),
            Answer::Done(RequestState { run_to_come: true, .. }) => {
                Expected::After(newest_run(asker, &path).await?)
            }
            Answer::Done(_) => Expected::Nothing,
        };
        all.push(Asked { name, path, run });
    }
    Ok(all)
}

impl Asked {
    /// Follows the run that comes of it.
    async fn outcome(&self, asker: &Asker<'_>) -> Result<Came> {
        let run = match &self.run {
            Expected::Refused => return Ok(Came::Refused),
            Expected::Nothing => return Ok(Came::Nothing),
            Expected::Run(run) => run.clone(),
            Expected::After(last) => self.run_after(asker, last.as_deref()).await?,
        };
        follow(asker, &run, true).await.map(Came::Run)
    }

    async fn run_after(&self, asker: &Asker<'_>, last: Option<&str>) -> Result<String> {
        loop {
            match newest_run(asker, &self.path).await? {
                Some(run) if last != Some(&run) => return Ok(run),
                _ => tokio::time::sleep(BETWEEN_LOOKS).await,
            }
        }
    }
}

async fn newest_run(asker: &Asker<'_>, path: &str) -> Result<Option<String>> {
    let detail: StackDetail = asker.client.get(path, &[]).await?;
    Ok(detail.runs.into_iter().next().map(|run| run.id))
}
