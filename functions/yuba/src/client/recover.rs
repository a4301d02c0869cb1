//! `recover`: shows what it would push, and where, and asks.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use reqwest::Method;
use yuba_api::wire::{AskBody, RecoveryView};

use super::args::Recover;
use super::ask::Asker;
use super::get::meant;
use super::http::{Answer, encode};
use super::outcome::{LookedUp, Outcomes};
use super::{print, tell};
use crate::done::WrongArguments;
use crate::done::code::REFUSED;
use crate::render;

/// Pushes the state that a run left behind, once that was shown and somebody agreed.
pub(super) async fn run(asker: &Asker<'_>, what: &Recover) -> Result<ExitCode> {
    let run = meant(asker, &what.run.run).await?;
    let path = format!("/api/v1/runs/{}", encode(&run));
    let mut outcomes = Outcomes::new(asker, LookedUp::Stack);
    match asker.client.get_unless_refused::<RecoveryView>(&format!("{path}/recovery")).await? {
        Err(why) => {
            let name = asker.stack_of(&run).await?;
            outcomes.hear(&what.run.run, &name, &Answer::Refused(why))?;
        }
        Ok(recovery) => {
            show(asker, &recovery)?;
            if !what.yes && !agreed()? {
                tell("nothing was pushed");
                return Ok(ExitCode::from(REFUSED));
            }
            let body = asker.signed(AskBody::default(), what.run.message.clone());
            let answer = asker.client.ask(Method::POST, &format!("{path}/recover"), &body).await?;
            let name = format!("{}/{}", recovery.namespace, recovery.name);
            outcomes.hear(&what.run.run, &name, &answer)?;
        }
    }
    outcomes.finish()
}

fn show(asker: &Asker<'_>, recovery: &RecoveryView) -> Result<()> {
    let text = render::recovery::text(recovery);
    if asker.is_for_people() {
        print(&text)?;
    } else {
        tell(text.trim_end());
    }
    Ok(())
}

/// Asks at the terminal; without one nobody can be asked.
fn agreed() -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        let why = "nothing was pushed: there is no terminal to ask at; `--yes` pushes without asking";
        return Err(WrongArguments(why.to_owned()).into());
    }
    let mut to = std::io::stderr().lock();
    let asked = write!(to, "Push it? [y/N] ").and_then(|()| to.flush());
    asked.context("cannot ask")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("the answer cannot be read")?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
