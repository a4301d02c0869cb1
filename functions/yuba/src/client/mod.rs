//! The verbs that ask a server: they parse, ask, print, and exit with a code that `docs/cli.md` lists.

mod args;
mod ask;
mod audit;
mod follow;
mod get;
mod http;
mod notify;
mod options;
mod outcome;
mod queue;
mod recover;
mod secret;
mod token;
mod wait;
mod watched;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;

pub(crate) use args::{Drift, Verb};
use args::{Listed, Show};
use ask::Asker;
pub(crate) use options::Options;

use crate::done::print;

/// Does what a verb says.
pub(crate) async fn run(options: &Options, verb: Verb) -> Result<ExitCode> {
    let client = options.client();
    let asker = Asker { client: &client, options };
    match verb {
        Verb::Get { what: Listed::Stacks, name, filter } => get::stacks(&asker, name, &filter).await,
        Verb::Get { what: Listed::Sources, name, .. } => get::sources(&asker, name.as_deref()).await,
        Verb::Get { what: Listed::Manifests, name, .. } => get::manifests(&asker, name.as_deref()).await,
        Verb::Get { what: Listed::Runs, name, filter } => get::runs(&asker, name, &filter).await,
        Verb::Get { what: Listed::Events, name, filter } => {
            get::events(&asker, name.as_deref(), &filter).await
        }
        Verb::Get { what: Listed::Providers, name, .. } => notify::list(&asker, name.as_deref()).await,
        Verb::Notify(what) => notify::run(&asker, what).await,
        Verb::Describe { stack } => get::describe(&asker, &stack).await,
        Verb::Show(Show::Plan { target, address }) => get::plan(&asker, &target, address.as_deref()).await,
        Verb::Show(Show::Run { run }) => get::run(&asker, &run).await,
        Verb::Logs { run, follow } => get::logs(&asker, &run, follow).await,
        Verb::Why { stack, revision } => get::why(&asker, &stack, revision.as_deref()).await,
        Verb::Drift(Drift::List) => get::drifted(&asker).await,
        Verb::Outputs { stack, reveal } => get::outputs(&asker, &stack, reveal).await,
        Verb::Inventory { stack } => get::inventory(&asker, &stack).await,
        Verb::Wait(what) => wait::run(&asker, &what).await,
        Verb::Audit(audit) => audit::run(&asker, audit).await,
        Verb::Queue(queue) => queue::run(&asker, queue).await,
        Verb::Recover(what) => recover::run(&asker, &what).await,
        Verb::Token(token) => token::run(&asker, token).await,
        Verb::Secret(secret) => secret::run(&asker, secret).await,
        changing => ask::run(&asker, changing).await,
    }
}

/// Writes a line to standard error.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
