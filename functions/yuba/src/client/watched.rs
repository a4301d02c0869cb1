//! Verbs that follow the runs they ask for: all are asked for first, then followed one after the other.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use reqwest::Method;
use yuba_api::wire::{AskBody, RequestState, StackDetail};

use super::args::Stacks;
use super::ask::{Asker, path_of};
use super::follow::{End, Followed, follow};
use super::get;
use super::http::Answer;
use super::outcome::{LookedUp, Outcomes};
use super::tell;
use crate::done::code::{DRIFT, FAILED};

/// How often is looked for a run that is still to be made.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// The verb that looks for drift, in the API.
const DRIFT_CHECK: &str = "drift-check";

/// After how long people are told that the run is still to be made.
const TOLD_AFTER: Duration = Duration::from_secs(5);

/// Reconciles stacks, and waits for what comes of it.
pub(super) async fn reconcile(asker: &Asker<'_>, stacks: Stacks) -> Result<ExitCode> {
    follow_all(asker, (stacks, "reconcile"), Outcomes::new(asker, LookedUp::Stack)).await
}

/// Checks stacks for drift, and describes those that have some. A refusal counts only for stacks that were named: one
/// suspended stack among all must not hide from a script what was found of the others.
pub(super) async fn check_drift(asker: &Asker<'_>, stacks: Stacks) -> Result<ExitCode> {
    let outcomes = Outcomes::new(asker, LookedUp::Stack);
    let outcomes = if stacks.names.is_empty() { outcomes.without_refusals() } else { outcomes };
    follow_all(asker, (stacks, DRIFT_CHECK), outcomes).await
}

/// Asks for all, then follows one run after the other; those with drift are described where that is what was asked for.
async fn follow_all(
    asker: &Asker<'_>,
    (stacks, verb): (Stacks, &str),
    mut outcomes: Outcomes<'_>,
) -> Result<ExitCode> {
    let followed = follow_each(asker, (stacks, verb), &mut outcomes).await;
    // What was asked for before something went wrong is told too.
    let code = outcomes.finish()?;
    followed.map(|()| code)
}

async fn follow_each(
    asker: &Asker<'_>,
    (stacks, verb): (Stacks, &str),
    outcomes: &mut Outcomes<'_>,
) -> Result<()> {
    let looks_for_drift = verb == DRIFT_CHECK;
    for (nth, asked) in ask(asker, stacks, verb, outcomes).await?.into_iter().enumerate() {
        let Some(end) = asked.end(asker).await? else { continue };
        outcomes.ended(nth, &end);
        match end.how {
            Followed::Failed => outcomes.weigh(FAILED),
            Followed::Drifted if looks_for_drift => {
                outcomes.weigh(DRIFT);
                if asker.is_for_people() {
                    get::describe(asker, &asked.name).await?;
                }
            }
            Followed::Ended | Followed::Drifted => {}
        }
    }
    Ok(())
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
    /// None: it was refused or is not decided, or there is nothing to do.
    Nothing,
    /// This one.
    Run(String),
    /// One that is still to be made, when this one has ended.
    After(Option<String>),
}

async fn ask(
    asker: &Asker<'_>,
    stacks: Stacks,
    verb: &str,
    outcomes: &mut Outcomes<'_>,
) -> Result<Vec<Asked>> {
    let names = asker.names(&stacks).await?;
    let body = asker.signed(AskBody::default(), stacks.message);
    let mut all = Vec::with_capacity(names.len());
    for typed in names {
        let name = asker.name(&typed).await?;
        let path = path_of(&name)?;
        let answer = asker.client.ask(Method::POST, &format!("{path}/{verb}"), &body).await?;
        outcomes.hear(&typed, &name, &answer)?;
        let run = match answer {
            Answer::Done(RequestState { run: Some(run), .. }) => Expected::Run(run),
            Answer::Done(RequestState { run_to_come: true, .. }) => {
                Expected::After(newest_run(asker, &path).await?)
            }
            Answer::Refused(_) | Answer::Undecided | Answer::Done(_) => Expected::Nothing,
        };
        all.push(Asked { name: typed, path, run });
    }
    Ok(all)
}

impl Asked {
    /// Follows the run that comes of it, if one does.
    async fn end(&self, asker: &Asker<'_>) -> Result<Option<End>> {
        let run = match &self.run {
            Expected::Nothing => return Ok(None),
            Expected::Run(run) => run.clone(),
            Expected::After(last) => self.run_after(asker, last.as_deref()).await?,
        };
        follow(asker, &run, true).await.map(Some)
    }

    async fn run_after(&self, asker: &Asker<'_>, last: Option<&str>) -> Result<String> {
        let mut told_at = Some(Instant::now() + TOLD_AFTER);
        loop {
            match newest_run(asker, &self.path).await? {
                Some(run) if last != Some(&run) => return Ok(run),
                _ => tokio::time::sleep(BETWEEN_LOOKS).await,
            }
            if told_at.take_if(|at| *at <= Instant::now()).is_some() {
                let name = &self.name;
                tell(&format!(
                    "{name}: its run is still to be made; `yuba describe {name}` says how the stack stands"
                ));
            }
        }
    }
}

async fn newest_run(asker: &Asker<'_>, path: &str) -> Result<Option<String>> {
    let detail: StackDetail = asker.client.get(path, &[]).await?;
    Ok(detail.runs.into_iter().next().map(|run| run.id))
}
