//! What people ask for through the API. They look first, and what they saw may be old when they ask.

use axum::body::Body;
use axum::http::{Request, header};
use serde_json::{Value, json};
use yuba_core::run::RunState;

use super::Seen;
use crate::process::Doing;
use crate::serving::TOKEN;
use crate::world::{Answer, World};

type Action = Option<(String, Doing)>;

/// Approves a plan that waits, or drift: mostly the right one.
pub(super) fn approve(world: &World, who: &str, stacks: &[Seen]) -> Action {
    let waiting: Vec<&Seen> = stacks.iter().filter(|seen| seen.waits(RunState::AwaitingApproval)).collect();
    if let Some(adoption) = adopt(world, who, stacks) {
        return Some(adoption);
    }
    let mut state = world.state();
    let seen = match state.chance.one_of(&waiting) {
        Some(seen) => *seen,
        None => state.chance.one_of(stacks)?,
    };
    let stored = seen.run.as_ref().or(seen.latest.as_ref()).and_then(|run| run.plan.as_ref());
    let plan = match (stored, state.chance.below(8)) {
        (_, 0) => Some("plan-main-0123456789".to_owned()),
        (Some(stored), 1) => Some(stored.report.plan_id.to_string()),
        (None, _) | (_, 2) => None,
        (Some(stored), _) => Some(format!("{}@{}", stored.report.plan_id, stored.report.content.short())),
    };
    let content = stored.map(|stored| stored.report.content);
    state.note(|| format!("approves {} of {}", plan.as_deref().unwrap_or("whatever waits"), seen.stack.name));
    state.oracle.meant_to_approve(who, &seen.stack, plan.as_deref(), content);
    drop(state);
    Some(ask_stack(world, who, seen, ("approve", json!({ "plan": plan }))))
}

/// Says that a state is new, or that it is another stack's, which may be wrong.
fn adopt(world: &World, who: &str, stacks: &[Seen]) -> Action {
    let seen = stacks.iter().find(|seen| seen.waits(RunState::AwaitingAdoption))?;
    let former = {
        let mut state = world.state();
        if state.chance.permille(700) { state.chance.one_of(stacks) } else { None }
    };
    let former = former.map(|former| former.stack.name.to_string());
    Some(ask_stack(world, who, seen, ("adopt", json!({ "from_stack": former }))))
}

/// Rejects a plan that waits.
pub(super) fn reject(world: &World, who: &str, stacks: &[Seen]) -> Action {
    let waiting: Vec<&Seen> = stacks.iter().filter(|seen| seen.waits(RunState::AwaitingApproval)).collect();
    let seen = *world.state().chance.one_of(&waiting)?;
    Some(ask_stack(world, who, seen, ("reject", json!({}))))
}

/// Suspends a stack, or resumes one.
pub(super) fn suspend(world: &World, who: &str, stacks: &[Seen]) -> Action {
    let seen = world.state().chance.one_of(stacks)?;
    let verb = if seen.stack.suspended.is_some() { "resume" } else { "suspend" };
    Some(ask_stack(world, who, seen, (verb, json!({}))))
}

/// Asks for any of the rest.
pub(super) fn ask(world: &World, who: &str, stacks: &[Seen]) -> Action {
    let (seen, verb) = {
        let mut state = world.state();
        let verbs = [(6, "reconcile"), (4, "replan"), (5, "drift-check"), (2, "destroy"), (5, "cancel")];
        (state.chance.one_of(stacks)?, state.chance.weighted(&verbs)?)
    };
    Some(ask_stack(world, who, seen, (verb, json!({}))))
}

/// Puts right what only people can: a lock that was left, a state that was not saved, a stack that is suspended.
pub(super) fn repair(world: &World, who: &str, stacks: &[Seen]) -> Action {
    let failed = |seen: &&Seen| seen.latest.as_ref().is_some_and(|run| run.failure.is_some());
    let broken: Vec<&Seen> = stacks.iter().filter(failed).collect();
    let seen = *world.state().chance.one_of(&broken)?;
    let run = seen.latest.as_ref()?;
    let failure = run.failure.as_ref()?;
    let (verb, body) = match &failure.lock {
        Some(lock) => ("unlock", json!({ "lock": lock.id })),
        None if failure.errored_state => ("recover", json!({ "run": run.id.to_string() })),
        None => ("reconcile", json!({})),
    };
    Some(ask_stack(world, who, seen, (verb, body)))
}

/// Pauses the installation, or ends its pause.
pub(super) fn pause(world: &World, who: &str) -> (String, Doing) {
    let is_paused = world.state().oracle.is_paused();
    let verb = if is_paused { "unpause" } else { "pause" };
    let doing = {
        let (world, who) = (world.clone(), who.to_owned());
        let path = format!("/api/v1/installation/{verb}");
        async move {
            world.state().note(|| format!("asks to {verb}"));
            post(&world, &path, json!({ "who": who })).await;
        }
    };
    (who.to_owned(), Box::pin(doing))
}

fn ask_stack(
    world: &World,
    who: &str,
    seen: &Seen,
    (verb, mut body): (&'static str, Value),
) -> (String, Doing) {
    if let Some(fields) = body.as_object_mut() {
        fields.insert("who".to_owned(), json!(who));
        fields.retain(|_, value| !value.is_null());
    }
    let name = seen.stack.name.clone();
    let path = format!("/api/v1/stacks/{}/{}/{verb}", name.namespace, name.name);
    let world = world.clone();
    let doing = async move {
        world.state().note(|| format!("asks to {verb} {name}"));
        let answer = post(&world, &path, body).await;
        let accepted = answer.as_ref().filter(|answer| answer.status.is_success());
        if let Some(id) = accepted.and_then(|answer| answer.body.get("request")).and_then(Value::as_str) {
            world.state().oracle.accepted_request(id);
        }
        world.state().note(|| match &answer {
            None => "hears nothing".to_owned(),
            Some(answer) => format!("is told {}: {}", answer.status, answer.body),
        });
    };
    (who.to_owned(), Box::pin(doing))
}

async fn post(world: &World, path: &str, body: Value) -> Option<Answer> {
    let request = Request::post(path)
        .header(header::AUTHORIZATION, format!("Bearer {TOKEN}"))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_string()))
        .ok()?;
    world.request(request).await
}
