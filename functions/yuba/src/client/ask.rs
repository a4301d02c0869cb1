//! Verbs that change something: each is decided before it returns, and exits with 3 where it was refused.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use reqwest::Method;
use serde_json::Value;
use yuba_api::wire::{AskBody, InstallationState, PauseBody, RunDetail, StackItem};

use super::args::{AdoptedState, Drift, Everything, OneRun, Stacks, Verb};
use super::get::{meant, print_one};
use super::http::{Client, encode};
use super::options::{Options, Output};
use super::outcome::{LookedUp, Outcomes};
use super::{print, tell, watched};
use crate::done::WrongArguments;

/// Whom to ask, and how.
pub(crate) struct Asker<'a> {
    pub(crate) client: &'a Client,
    pub(crate) options: &'a Options,
}

/// Does what a verb that changes something says.
pub(crate) async fn run(asker: &Asker<'_>, verb: Verb) -> Result<ExitCode> {
    match verb {
        Verb::Approve { stacks, plan } => {
            asker.all(stacks, "approve", AskBody { plan, ..AskBody::default() }).await
        }
        Verb::Reject(stacks) => asker.all(stacks, "reject", AskBody::default()).await,
        Verb::Reconcile { stacks, wait: false } => asker.all(stacks, "reconcile", AskBody::default()).await,
        Verb::Reconcile { stacks, wait: true } => watched::reconcile(asker, stacks).await,
        Verb::Replan(stacks) => asker.all(stacks, "replan", AskBody::default()).await,
        Verb::Suspend(stacks) => asker.all(stacks, "suspend", AskBody::default()).await,
        Verb::Resume(stacks) => asker.all(stacks, "resume", AskBody::default()).await,
        Verb::Destroy(stacks) => asker.all(stacks, "destroy", AskBody::default()).await,
        Verb::Unlock { stacks, lock } => {
            asker.all(stacks, "unlock", AskBody { lock, ..AskBody::default() }).await
        }
        Verb::Adopt { stacks, state } => asker.adopt(stacks, state).await,
        Verb::Cancel(run) => asker.cancel(&run).await,
        Verb::Pause(everything) => asker.pause(everything, "pause").await,
        Verb::Unpause(everything) => asker.pause(everything, "unpause").await,
        Verb::Drift(Drift::Check { names, selection, .. }) => {
            watched::check_drift(asker, Stacks { names, selection, message: None }).await
        }
        Verb::Patch { name, patch, .. } => asker.patch(&name, &patch).await,
        _ => bail!("this verb changes nothing"),
    }
}

impl Asker<'_> {
    /// Whether what is printed is for people, who are told more than they asked for; programs are not.
    pub(crate) fn is_for_people(&self) -> bool {
        matches!(self.options.output, Output::Table | Output::Wide)
    }

    /// The full name of what somebody typed: `namespace/name`, or `name` where only one stack has it.
    pub(crate) async fn name(&self, typed: &str) -> Result<String> {
        self.name_of(typed, "stack").await
    }

    /// The same where something else could be meant too: `what` says what there is none of.
    pub(crate) async fn name_of(&self, typed: &str, what: &str) -> Result<String> {
        if typed.contains('/') {
            return Ok(typed.to_owned());
        }
        let mut query = vec![("name", typed.to_owned())];
        query.extend(self.options.namespace.clone().map(|namespace| ("namespace", namespace)));
        let found: Vec<StackItem> = self.client.list("/api/v1/stacks", &query, 20).await?;
        let names: Vec<String> =
            found.iter().map(|item| format!("{}/{}", item.namespace, item.name)).collect();
        match names.as_slice() {
            [name] => Ok(name.clone()),
            [] => bail!("there is no {what} {typed}; `yuba get stacks` lists all stacks"),
            several => bail!("{typed} is not one stack: say which of {}", several.join(", ")),
        }
    }

    /// Where a stack lies in the API.
    pub(crate) async fn path(&self, typed: &str) -> Result<String> {
        path_of(&self.name(typed).await?)
    }

    /// The names of the stacks that are meant.
    pub(super) async fn names(&self, stacks: &Stacks) -> Result<Vec<String>> {
        if !stacks.names.is_empty() {
            return Ok(stacks.names.clone());
        }
        let mut query: Vec<(&str, String)> = Vec::new();
        query.extend(self.options.namespace.clone().map(|namespace| ("namespace", namespace)));
        query.extend(stacks.selection.labels.clone().map(|labels| ("labels", labels)));
        query.extend(stacks.selection.failed.then(|| ("failed", "true".to_owned())));
        let found: Vec<StackItem> = self.client.list("/api/v1/stacks", &query, usize::MAX).await?;
        if found.is_empty() {
            tell("no stack is meant by this");
        }
        Ok(found.iter().map(|item| format!("{}/{}", item.namespace, item.name)).collect())
    }

    /// A request with who asks, and why.
    pub(super) fn signed(&self, body: AskBody, message: Option<String>) -> AskBody {
        AskBody { who: self.options.who(), from: Some("cli".to_owned()), message, ..body }
    }

    async fn all(&self, stacks: Stacks, verb: &str, body: AskBody) -> Result<ExitCode> {
        let body = self.signed(body, stacks.message.clone());
        let mut outcomes = Outcomes::new(self, LookedUp::Stack);
        for typed in self.names(&stacks).await? {
            if let Err(error) = self.one(&mut outcomes, &typed, verb, &body).await {
                outcomes.finish()?;
                return Err(error);
            }
        }
        outcomes.finish()
    }

    async fn one(&self, outcomes: &mut Outcomes<'_>, typed: &str, verb: &str, body: &AskBody) -> Result<()> {
        let name = self.name(typed).await?;
        let answer = self.client.ask(Method::POST, &format!("{}/{verb}", path_of(&name)?), body).await?;
        outcomes.hear(typed, &name, &answer)
    }

    async fn adopt(&self, stacks: Stacks, state: AdoptedState) -> Result<ExitCode> {
        if !state.new && stacks.names.len() != 1 {
            return Err(WrongArguments("a state belongs to one stack: name it".to_owned()).into());
        }
        let read = |path: &std::path::PathBuf| {
            std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
        };
        let state_file = state.state.as_ref().map(read).transpose()?;
        let from_stack = match &state.from {
            Some(typed) => Some(self.name(typed).await?),
            None => None,
        };
        self.all(stacks, "adopt", AskBody { state_file, from_stack, ..AskBody::default() }).await
    }

    /// The full name of a run's stack.
    pub(super) async fn stack_of(&self, run: &str) -> Result<String> {
        let RunDetail { run, .. } = self.client.get(&format!("/api/v1/runs/{}", encode(run)), &[]).await?;
        Ok(format!("{}/{}", run.namespace, run.name))
    }

    async fn cancel(&self, what: &OneRun) -> Result<ExitCode> {
        let body = self.signed(AskBody::default(), what.message.clone());
        let run = meant(self, &what.run).await?;
        let (name, path) = (self.stack_of(&run).await?, format!("/api/v1/runs/{}/cancel", encode(&run)));
        let mut outcomes = Outcomes::new(self, LookedUp::Stack);
        outcomes.hear(&what.run, &name, &self.client.ask(Method::POST, &path, &body).await?)?;
        outcomes.finish()
    }

    async fn pause(&self, everything: Everything, verb: &str) -> Result<ExitCode> {
        let body =
            PauseBody { who: self.options.who(), from: Some("cli".to_owned()), message: everything.message };
        let request = self.client.request(Method::POST, &format!("/api/v1/installation/{verb}")).json(&body);
        let state: InstallationState = self.client.send(request).await?.json().await?;
        match &state.paused {
            _ if !self.is_for_people() => return print_one(self, &state, String::new),
            Some(by) => print(&format!("paused by {} at {}: no new apply starts\n", by.who, by.at))?,
            None => print("unpaused: applies start again\n")?,
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn patch(&self, name: &str, patch: &Value) -> Result<ExitCode> {
        let who = self.options.who().map(|who| format!("&who={}", encode(&who))).unwrap_or_default();
        let full = self.name(name).await?;
        let target = format!("{}?from=cli{who}", path_of(&full)?);
        let mut outcomes = Outcomes::new(self, LookedUp::Stack);
        outcomes.hear(name, &full, &self.client.ask(Method::PATCH, &target, patch).await?)?;
        outcomes.finish()
    }
}

/// Where the stack of a full name lies in the API.
pub(crate) fn path_of(name: &str) -> Result<String> {
    let (namespace, name) = name.split_once('/').context("a name has a namespace")?;
    Ok(format!("/api/v1/stacks/{}/{}", encode(namespace), encode(name)))
}
