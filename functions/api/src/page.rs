//! Plain pages: stacks, runs, and one run with its plan and log. They show and change nothing.

use axum::extract::{Path, State};
use axum::routing::get;
use axum::{Extension, Router};
use maud::{DOCTYPE, Markup, html};
use yuba_core::access::Caller;
use yuba_core::job::object;
use yuba_core::record::Index;
use yuba_core::run::Run;
use yuba_core::source::ManifestSetRecord;
use yuba_core::stack::Stack;

use crate::auth::visible;
use crate::extract::run_id;
use crate::problem::Problem;
use crate::routes::plan::stored;
use crate::watch::log::whole_log;
use crate::wire::{ManifestSetItem, RunItem, StackItem};
use crate::{Api, lookup, view};

/// How many stacks and runs the first page lists.
const LISTED: usize = 100;

const STYLE: &str = "body{font:14px/1.4 system-ui,sans-serif;margin:2rem;max-width:110rem}\
    table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .8rem .25rem 0;\
    border-bottom:1px solid #ddd;vertical-align:top}pre{background:#f6f6f6;padding:1rem;overflow:auto}";

/// The pages' routes.
pub(crate) fn routes() -> Router<Api> {
    Router::new().route("/", get(home)).route("/runs/{run}", get(run))
}

/// What whoever has no token sees.
pub(crate) fn sign_in() -> Markup {
    frame(
        "Yuba",
        &html! {
            p { "This page needs a token: open " code { "/?token=…" }
                " once; a cookie keeps it for this browser." }
        },
    )
}

async fn home(State(api): State<Api>, Extension(caller): Extension<Caller>) -> Result<Markup, Problem> {
    let store = &*api.ports.store;
    let (stacks, more) =
        lookup::values::<Stack>(store, lookup::index(Index::Stacks, String::new(), None, LISTED)).await?;
    let (runs, _) = lookup::values::<Run>(store, lookup::newest(Index::Runs, None, LISTED)).await?;
    let (sets, _) = lookup::values::<ManifestSetRecord>(
        store,
        lookup::index(Index::Manifests, String::new(), None, LISTED),
    )
    .await?;
    let stacks = visible(&api, &caller, stacks, |stack| stack.id).await?;
    let runs = visible(&api, &caller, runs, |run| run.stack).await?;
    // Findings name stacks of any labels.
    let sets = if caller.labels.is_some() { Vec::new() } else { sets };
    let sets: Vec<ManifestSetItem> = sets.iter().map(view::manifests::manifest_set).collect();
    let stacks: Vec<StackItem> = stacks.iter().map(|stack| view::stack::item(stack, None, None)).collect();
    let runs: Vec<RunItem> = runs.iter().map(view::run::item).collect();
    Ok(frame(
        "Yuba",
        &html! {
            h2 { "Stacks" } (stack_table(&stacks))
            @if more.is_some() { p { "There are more: " code { "yuba get stacks" } " lists all." } }
            h2 { "Runs" } (run_table(&runs))
            h2 { "Manifests" } (manifest_table(&sets))
        },
    ))
}

async fn run(State(api): State<Api>, Path(id): Path<String>) -> Result<Markup, Problem> {
    let run = lookup::run(&*api.ports.store, run_id(&id)?).await?;
    let plan = stored(&api, &run, object::PLAN_TEXT).await?;
    let log = whole_log(&*api.ports.blobs, &run).await?;
    let stack = lookup::stack_of_run(&*api.ports.store, &run).await?;
    let detail = view::run::detail(&run, &stack, None);
    let title = format!("Run {} of {}", run.number, run.name);
    Ok(frame(
        &title,
        &html! {
            p { a href="/" { "All stacks" } }
            p { b { (detail.run.state) } " · " (detail.run.kind) " · " (detail.run.revision) " · " (detail.run.because) }
            p { (detail.commit.subject) " (" (detail.commit.author) ")" }
            @if !detail.waits_for.is_empty() { p { "Waits for " (detail.waits_for) } }
            @if let Some(failure) = &detail.failure {
                h2 { "Failure" } p { (failure.message) } @if !failure.detail.is_empty() { pre { (failure.detail) } }
            }
            @if let Some(plan) = plan { h2 { "Plan" } pre { (String::from_utf8_lossy(&plan)) } }
            h2 { "Log" } pre { (log) }
        },
    ))
}

fn stack_table(stacks: &[StackItem]) -> Markup {
    html! { table {
        tr { th { "Namespace" } th { "Name" } th { "Ready" } th { "State" } th { "Status" } }
        @for stack in stacks { tr {
            td { (stack.namespace) }
            td { @if let Some(run) = &stack.run { a href={ "/runs/" (run) } { (stack.name) } } @else { (stack.name) } }
            td { (stack.ready) } td { (stack.state) } td { (stack.status) }
        } }
    } }
}

fn manifest_table(sets: &[ManifestSetItem]) -> Markup {
    html! {
        table {
            tr { th { "Place" } th { "Ready" } th { "Errors" } th { "Warnings" } th { "Status" } }
            @for set in sets { tr {
                td { (set.name) } td { (set.ready) } td { (set.errors) } td { (set.warnings) } td { (set.status) }
            } }
        }
        @for set in sets.iter().filter(|set| set.errors > 0) {
            h3 { (set.name) } pre { @for finding in &set.findings { (finding) "\n" } }
        }
    }
}

fn run_table(runs: &[RunItem]) -> Markup {
    html! { table {
        tr { th { "Stack" } th { "Run" } th { "Kind" } th { "State" } th { "Revision" } th { "Because" } th { "Made (UTC)" } }
        @for run in runs { tr {
            td { (run.namespace) "/" (run.name) } td { a href={ "/runs/" (run.id) } { (run.number) } }
            td { (run.kind) } td { (run.state) } td { (run.revision) } td { (run.because) } td { (run.created_at) }
        } }
    } }
}

fn frame(title: &str, body: &Markup) -> Markup {
    html! { (DOCTYPE) html lang="en" {
        head { meta charset="utf-8"; title { (title) } style { (maud::PreEscaped(STYLE)) } }
        body { h1 { (title) } (body) }
    } }
}
