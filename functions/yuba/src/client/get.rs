//! Verbs that only look.

use std::collections::HashSet;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use reqwest::Method;
use serde::Serialize;
use yuba_api::wire::{
    EventItem, InstallationState, Inventory, ManifestSetItem, Outputs, RunDetail, RunItem, SourceItem,
    StackDetail, StackItem, WhyView,
};
use yuba_core::plan::Styles;
use yuba_core::plan::render::{View, plan as plan_text};
use yuba_core::plan::summary::PlanSummary;

use super::args::Filter;
use super::ask::{Asker, path_of};
use super::follow::{Followed, follow};
use super::http::encode;
use super::options::Output;
use super::{print, tell};
use crate::done::code::FAILED;
use crate::render::{self, Now, Width};

/// Lists stacks.
pub(crate) async fn stacks(asker: &Asker<'_>, name: Option<String>, filter: &Filter) -> Result<ExitCode> {
    let mut query: Vec<(&str, String)> = Vec::new();
    query.extend(asker.options.namespace.clone().map(|namespace| ("namespace", namespace)));
    query.extend(filter.labels.clone().map(|labels| ("labels", labels)));
    query.extend(filter.failed.then(|| ("failed", "true".to_owned())));
    match name.as_deref().map(|name| name.split_once('/').unwrap_or(("", name))) {
        Some(("", name)) => query.push(("name", name.to_owned())),
        Some((namespace, name)) => {
            query.retain(|(key, _)| *key != "namespace");
            query.extend([("namespace", namespace.to_owned()), ("name", name.to_owned())]);
        }
        None => {}
    }
    let items: Vec<StackItem> = asker.client.list("/api/v1/stacks", &query, usize::MAX).await?;
    match name {
        Some(name) if items.is_empty() && !filter.failed && filter.labels.is_none() => {
            bail!("there is no stack {name}; `yuba get stacks` lists all stacks")
        }
        _ => {}
    }
    let printed = print_list(asker, &items, |width| render::lists::stacks(&items, width, Now::read()))?;
    if asker.is_for_people() {
        tell_of_a_pause(asker).await?;
    }
    Ok(printed)
}

/// Nothing in a list shows that the installation is paused, until an apply waits for it.
async fn tell_of_a_pause(asker: &Asker<'_>) -> Result<()> {
    let state: InstallationState = asker.client.get("/api/v1/installation", &[]).await?;
    if let Some(by) = &state.paused {
        tell(&render::lists::paused(by));
    }
    Ok(())
}

/// Lists stacks with drift.
pub(crate) async fn drifted(asker: &Asker<'_>) -> Result<ExitCode> {
    let mut query = vec![("drifted", "true".to_owned())];
    query.extend(asker.options.namespace.clone().map(|namespace| ("namespace", namespace)));
    let items: Vec<StackItem> = asker.client.list("/api/v1/stacks", &query, usize::MAX).await?;
    print_list(asker, &items, |width| render::lists::drifted(&items, width, Now::read()))
}

/// Lists sources.
pub(crate) async fn sources(asker: &Asker<'_>, typed: Option<&str>) -> Result<ExitCode> {
    let (namespace, name) = match typed.map(|typed| typed.split_once('/').ok_or(typed)) {
        Some(Ok((namespace, name))) => (Some(namespace), Some(name)),
        Some(Err(name)) => (asker.options.namespace.as_deref(), Some(name)),
        None => (asker.options.namespace.as_deref(), None),
    };
    let wanted = |item: &SourceItem| {
        namespace.is_none_or(|namespace| namespace == item.namespace)
            && name.is_none_or(|name| name == item.name)
    };
    let items = asker.client.list_those("/api/v1/sources", &[], usize::MAX, wanted).await?;
    if let (Some(typed), true) = (typed, items.is_empty()) {
        bail!("there is no source {typed}; `yuba get sources` lists all sources");
    }
    let all = typed.is_none() && namespace.is_none();
    let sets = if asker.is_for_people() && all { manifest_sets(asker, None).await? } else { Vec::new() };
    print_list(asker, &items, |width| {
        let sources = render::lists::sources(&items, width, Now::read());
        if sets.is_empty() {
            sources
        } else {
            format!("{sources}\n{}", render::lists::manifests(&sets, width))
        }
    })
}

/// Lists places of manifests.
pub(crate) async fn manifests(asker: &Asker<'_>, typed: Option<&str>) -> Result<ExitCode> {
    let sets = manifest_sets(asker, typed).await?;
    if let (Some(typed), true) = (typed, sets.is_empty()) {
        bail!("there is no place of manifests {typed}; `yuba get manifests` lists all");
    }
    print_list(asker, &sets, |width| render::lists::manifests(&sets, width))
}

async fn manifest_sets(asker: &Asker<'_>, named: Option<&str>) -> Result<Vec<ManifestSetItem>> {
    let wanted = |item: &ManifestSetItem| named.is_none_or(|named| named == item.name);
    asker.client.list_those("/api/v1/manifests", &[], usize::MAX, wanted).await
}

/// Lists runs, newest first.
pub(crate) async fn runs(asker: &Asker<'_>, stack: Option<String>, filter: &Filter) -> Result<ExitCode> {
    let mut query = Vec::new();
    if let Some(stack) = &stack {
        query.push(("stack", asker.name(stack).await?));
    }
    let scope = Scope::of(asker, stack.as_deref(), filter).await?;
    let wanted = |item: &RunItem| {
        scope.takes(&item.namespace, &item.name) && (!filter.failed || item.state == "failed")
    };
    let items = asker.client.list_those("/api/v1/runs", &query, filter.limit, wanted).await?;
    print_list(asker, &items, |width| render::lists::runs(&items, width, Now::read()))
}

/// Lists events, newest first.
pub(crate) async fn events(asker: &Asker<'_>, stack: Option<&str>, filter: &Filter) -> Result<ExitCode> {
    let scope = Scope::of(asker, stack, filter).await?;
    let wanted = |item: &EventItem| {
        scope.takes(&item.namespace, &item.name) && (!filter.failed || item.severity == "error")
    };
    let items = asker.client.list_those("/api/v1/events", &[], filter.limit, wanted).await?;
    print_list(asker, &items, |_| render::lists::events(&items, Now::read()))
}

/// Which stacks a list of runs or events is about.
enum Scope {
    /// All, or all of a namespace.
    Namespace(Option<String>),
    /// These, `namespace/name`.
    Stacks(HashSet<String>),
}

impl Scope {
    /// A stack that is named must be there.
    async fn of(asker: &Asker<'_>, stack: Option<&str>, filter: &Filter) -> Result<Self> {
        if let Some(stack) = stack {
            let detail: StackDetail = asker.client.get(&asker.path(stack).await?, &[]).await?;
            return Ok(Self::Stacks([full_name(&detail.stack)].into()));
        }
        let namespace = asker.options.namespace.clone();
        let Some(labels) = filter.labels.clone() else { return Ok(Self::Namespace(namespace)) };
        let mut query = vec![("labels", labels)];
        query.extend(namespace.map(|namespace| ("namespace", namespace)));
        let stacks: Vec<StackItem> = asker.client.list("/api/v1/stacks", &query, usize::MAX).await?;
        Ok(Self::Stacks(stacks.iter().map(full_name).collect()))
    }

    fn takes(&self, namespace: &str, name: &str) -> bool {
        match self {
            Self::Namespace(wanted) => wanted.as_ref().is_none_or(|wanted| wanted == namespace),
            Self::Stacks(names) => names.contains(&format!("{namespace}/{name}")),
        }
    }
}

fn full_name(stack: &StackItem) -> String {
    format!("{}/{}", stack.namespace, stack.name)
}

/// Shows all that is known of a stack.
pub(crate) async fn describe(asker: &Asker<'_>, stack: &str) -> Result<ExitCode> {
    let detail: StackDetail = asker.client.get(&asker.path(stack).await?, &[]).await?;
    let named = detail.definition.iter().flat_map(|definition| &definition.depends_on);
    let mut dependencies = Vec::new();
    for name in named.filter(|_| asker.is_for_people()) {
        let found = asker.client.get::<StackDetail>(&path_of(name)?, &[]).await;
        dependencies.push(render::stack::dependency(name, found.ok().map(|found| found.stack).as_ref()));
    }
    print_one(asker, &detail, || render::stack::describe(&detail, &dependencies, Now::read()))
}

/// Shows a run; a failed one with its error and the last 40 lines of its log.
pub(crate) async fn run(asker: &Asker<'_>, target: &str) -> Result<ExitCode> {
    let path = format!("/api/v1/runs/{}", encode(&meant(asker, target).await?));
    let detail: RunDetail = asker.client.get(&path, &[]).await?;
    let log = match &detail.failure {
        Some(_) => {
            asker.client.send(asker.client.request(Method::GET, &format!("{path}/log"))).await?.text().await?
        }
        None => String::new(),
    };
    print_one(asker, &detail, || render::run::show(&detail, &log, Now::read()))
}

/// Whether somebody typed the id of a run, and not the name of a stack.
fn looks_like_a_run(typed: &str) -> bool {
    typed.len() == 26 && typed.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

/// The run that is meant: its id, or the current or last run of a stack.
pub(crate) async fn meant(asker: &Asker<'_>, target: &str) -> Result<String> {
    if looks_like_a_run(target) {
        return Ok(target.to_owned());
    }
    let path = path_of(&asker.name_of(target, "run or stack").await?)?;
    let detail: StackDetail = asker.client.get(&path, &[]).await?;
    let newest = detail.runs.into_iter().next();
    newest.map(|run| run.id).with_context(|| format!("{target} had no run yet"))
}

/// Shows a plan.
pub(crate) async fn plan(asker: &Asker<'_>, target: &str, address: Option<&str>) -> Result<ExitCode> {
    let run = meant(asker, target).await?;
    let query = [("format", "summary".to_owned())];
    let summary: PlanSummary =
        asker.client.get(&format!("/api/v1/runs/{}/plan", encode(&run)), &query).await?;
    let styles = if asker.options.colours() { Styles::Ansi } else { Styles::Plain };
    let shown = match address {
        Some(address) => summary.narrowed(address)?,
        None => summary.clone(),
    };
    print_one(asker, &shown, || plan_text(&summary, &View { address, styles }))
}

/// Prints the log of a run.
pub(crate) async fn logs(asker: &Asker<'_>, target: &str, going_on: bool) -> Result<ExitCode> {
    let run = meant(asker, target).await?;
    if going_on {
        let failed = follow(asker, &run, false).await?.how == Followed::Failed;
        return Ok(if failed { ExitCode::from(FAILED) } else { ExitCode::SUCCESS });
    }
    let request = asker.client.request(Method::GET, &format!("/api/v1/runs/{}/log", encode(&run)));
    print(&asker.client.send(request).await?.text().await?)?;
    Ok(ExitCode::SUCCESS)
}

/// Tells why a stack was planned, or was not.
pub(crate) async fn why(asker: &Asker<'_>, stack: &str, revision: Option<&str>) -> Result<ExitCode> {
    let path = format!("{}/why", asker.path(stack).await?);
    let query: Vec<(&str, String)> =
        revision.map(|revision| ("revision", revision.to_owned())).into_iter().collect();
    let why: WhyView = asker.client.get(&path, &query).await?;
    print_one(asker, &why, || why.text.clone())
}

/// Shows the outputs of a stack.
pub(crate) async fn outputs(asker: &Asker<'_>, stack: &str, reveal: bool) -> Result<ExitCode> {
    let path = format!("{}/outputs", asker.path(stack).await?);
    let outputs: Outputs = asker.client.get(&path, &[("reveal", reveal.to_string())]).await?;
    print_list(asker, &outputs.items, |_| render::lists::outputs(&outputs.items))
}

/// Shows what a stack manages.
pub(crate) async fn inventory(asker: &Asker<'_>, stack: &str) -> Result<ExitCode> {
    let path = format!("{}/inventory", asker.path(stack).await?);
    let inventory: Inventory = asker.client.get(&path, &[]).await?;
    print_list(asker, &inventory.items, |_| render::lists::inventory(&inventory.items))
}

/// Prints a list in the form that was asked for.
pub(crate) fn print_list<T: Serialize>(
    asker: &Asker<'_>,
    items: &[T],
    table: impl FnOnce(Width) -> String,
) -> Result<ExitCode> {
    let list = || serde_json::json!({ "items": items });
    print(&match asker.options.output {
        Output::Table => table(Width::Narrow),
        Output::Wide => table(Width::Wide),
        Output::Json => format!("{}\n", serde_json::to_string_pretty(&list())?),
        Output::Yaml => render::yaml::write(&list()),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Prints one thing in the form that was asked for.
pub(crate) fn print_one<T: Serialize>(
    asker: &Asker<'_>,
    item: &T,
    text: impl FnOnce() -> String,
) -> Result<ExitCode> {
    print(&match asker.options.output {
        Output::Table | Output::Wide => text(),
        Output::Json => format!("{}\n", serde_json::to_string_pretty(item)?),
        Output::Yaml => render::yaml::write(&serde_json::to_value(item)?),
    })?;
    Ok(ExitCode::SUCCESS)
}
