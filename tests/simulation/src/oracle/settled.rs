//! What must hold once faults and people have stopped and everything had its time.

use std::collections::BTreeMap;

use serde_json::json;
use yuba_core::id::StackId;
use yuba_core::record::Key;
use yuba_core::request::{Decision, DecisionVerdict, Outcome, Request};
use yuba_core::run::{FailureClass, Run, RunKind, RunState, Waiting};
use yuba_core::source::{Definition, Delivery};
use yuba_core::spec::{ApprovePlan, Variable};
use yuba_core::stack::{Retry, Stack};
use yuba_ports::records::Versioned;

use super::approvals::Doubt;
use super::notices::untold;
use crate::people::{People, url_of};
use crate::process::at_once;
use crate::runner::{place, wanted};
use crate::world::cloud::{Resources, difference};
use crate::world::git::{Files, seen};
use crate::world::{State, World};

/// Bytes that no record reaches.
const LARGEST_RECORD: usize = 32 << 10;
/// So many records does a stack have besides its runs: itself, what is known of it, names, edges.
const RECORDS_OF_A_STACK: usize = 16;
/// Sources, sets of manifests, secrets, teams, providers, alerts, notices, the installation.
const RECORDS_BESIDES: usize = 40;

/// Looks whether everything settled, and settled well.
pub(crate) fn check(world: &World, people: &People) {
    let stacks: Vec<StackId> = world.state().oracle.stacks.keys().copied().collect();
    for stack in stacks {
        if let Some(what) = stack_unsettled(world, stack) {
            return world.state().violated(5, what);
        }
        if let Some(what) = missing_event(world, stack) {
            return world.state().violated(6, what);
        }
    }
    if let Some(what) = state_of_two(world) {
        world.state().violated(1, what);
    }
    let untaken = not_taken_over(&world.state(), people);
    if let Some(what) = untaken {
        world.state().violated(5, what);
    }
    if let Some(what) = too_large(world) {
        world.state().violated(5, what);
    }
    let stale = world.state().oracle.stale_notice();
    if let Some(what) = stale {
        world.state().violated(6, what);
    }
    if let Some(what) = untold(world) {
        world.state().violated(6, what);
    }
    if let Some(what) = unanswered(world) {
        world.state().violated(5, what);
    }
}

fn stack_unsettled(world: &World, id: StackId) -> Option<String> {
    let state = world.state();
    let stack = state.oracle.stacks.get(&id)?;
    let name = &stack.name;
    if let Some(effect) = stack.outbox.iter().find(|effect| !effect.given_up) {
        return Some(format!("{name}: effect {} is still to do", effect.key));
    }
    let definition = state.oracle.definitions.get(&id).filter(|definition| definition.vanished.is_none())?;
    if definition.spec.suspend || stack.suspended.is_some() {
        return None;
    }
    let head = state.git.head(url_of(&definition.spec.source)?, "main")?;
    let files = state.git.files(&head.tree)?;
    let now = seen(&files, &definition.spec.path);
    let observation = state.oracle.observations.get(&id);
    if observation.is_none_or(|observation| observation.closure != now.digest) {
        return Some(format!("{name}: what Git holds for it was never observed"));
    }
    let run = stack.run.and_then(|run| state.oracle.runs.get(&run));
    if let Some(run) = run {
        if let Some(what) = asks_again(&state, run) {
            return Some(what);
        }
        let owed = matches!(run.state, RunState::AwaitingApproval | RunState::AwaitingAdoption)
            || run.state == RunState::Queued && matches!(run.waits_for, Waiting::Dependencies(_));
        return (!owed).then(|| format!("{name}: run {} is still {}", run.number, run.state));
    }
    if let Some(retry) = &stack.retry {
        return mends_by_itself(&state, stack, retry).then(|| format!("{name}: {}", stack.shown.status));
    }
    let planned = stack.planned.as_ref().map(|planned| planned.closure);
    if planned != Some(now.digest) {
        return Some(format!("{name}: what Git holds for it was never planned"));
    }
    let spec = &definition.spec;
    if spec.approve_plan != ApprovePlan::Auto || spec.planned_only_because().is_some() {
        return None;
    }
    unapplied(&state, stack).or_else(|| unreal(&state, stack, &files))
}

/// A run that waits for an approval of what was approved already.
fn asks_again(state: &State, run: &Run) -> Option<String> {
    let asks = matches!(run.waits_for, Waiting::Approval | Waiting::Approvals(_));
    let plan = run.plan.as_ref().filter(|_| asks && state.lacks(run, Doubt::AgainstThem).is_none())?;
    let is_approval = |decision: &&Decision| {
        decision.verdict == DecisionVerdict::Approve
            && decision.content == plan.report.content
            && decision.by.identity.as_ref().is_none_or(|identity| state.oracle.teams.know(identity))
    };
    let given = run.decisions.iter().find(is_approval)?;
    Some(format!("run {} of {} asks for what {} approved", run.number, run.name, given.by.who))
}

/// A stack that applies by itself has applied what was planned, unless a person stopped the last run that would have.
fn unapplied(state: &State, stack: &Stack) -> Option<String> {
    let applied = stack.applied.as_ref().map(|applied| &applied.wanted);
    let would_apply = |run: &&Run| {
        run.stack == stack.id && run.kind != RunKind::Drift && Some(&run.wanted) == stack.planned.as_ref()
    };
    let last = state.oracle.runs.values().filter(would_apply).max_by_key(|run| run.number);
    let is_due = last.is_none_or(|run| !matches!(run.state, RunState::Discarded | RunState::Cancelled));
    (is_due && stack.shares_state_with.is_none() && applied != stack.planned.as_ref())
        .then(|| format!("{}: its plan was never applied ({})", stack.name, stack.shown.status))
}

/// Whether a failure that stands should have mended by itself by now: no lock that was left, no state that was not
/// saved, nothing that only new input can mend.
fn mends_by_itself(state: &State, stack: &Stack, retry: &Retry) -> bool {
    let latest = stack.latest.and_then(|run| state.oracle.runs.get(&run));
    let is_left = latest.and_then(|run| run.failure.as_ref()).is_some_and(|failure| failure.errored_state);
    retry.due.is_some() && retry.class != FailureClass::Locked && !is_left
}

/// Where everything was applied and no drift stands, reality is what Git wants.
fn unreal(state: &State, stack: &Stack, files: &Files) -> Option<String> {
    let applied = stack.applied.as_ref()?;
    let spec = &applied.spec;
    if Some(&applied.wanted) != stack.planned.as_ref() || stack.drift.is_some() || !spec.vars_from.is_empty()
    {
        return None;
    }
    let wanted = if applied.destroyed { Resources::new() } else { wanted(files, spec) };
    let real = state.cloud.places.get(&place(stack.state_id(), spec)).map(|place| place.real.clone());
    let differs = difference(&real.unwrap_or_default(), &wanted);
    let first = differs.first().filter(|_| !applied.destroyed)?;
    Some(format!("{}: counts as applied, and {} differs", stack.name, first.address))
}

/// Two stacks for which the installation keeps one state.
fn state_of_two(world: &World) -> Option<String> {
    let mut kept = BTreeMap::new();
    world.state().oracle.stacks.values().find_map(|stack| {
        let other = kept.insert(stack.state_id(), stack.name.clone())?;
        Some(format!("{} and {other} have one state", stack.name))
    })
}

fn missing_event(world: &World, id: StackId) -> Option<String> {
    let state = world.state();
    let stack = state.oracle.stacks.get(&id)?;
    let missing = (1..=stack.events).find(|number| {
        let event = (id, *number);
        !state.oracle.events.contains_key(&event) && !state.oracle.refused_events.contains(&event)
    })?;
    Some(format!("{}: event {missing} of {} was never published", stack.name, stack.events))
}

/// Every stack of the manifests is known as they have it, unless the other set holds its name.
fn not_taken_over(state: &State, people: &People) -> Option<String> {
    people.sets().find_map(|(set, repository)| {
        let mut documents = repository.free_standing();
        documents.find_map(|(name, path, size)| {
            let mut known = state.oracle.definitions.values().filter(|known| known.name == name);
            let known = known.find(|known| known.vanished.is_none());
            let is_as_written = |known: &Definition| {
                let has_size = |variable: &Variable| variable.name == "size" && variable.value == json!(size);
                known.set != *set || known.spec.path == path && known.spec.vars.iter().any(has_size)
            };
            (!known.is_some_and(is_as_written)).then(|| format!("{name}: its manifest was never taken over"))
        })
    })
}

/// No record grows without bound, and there are not more of them than what happened explains.
fn too_large(world: &World) -> Option<String> {
    let records = world.records();
    let large = records.iter().find(|item| item.body.to_string().len() > LARGEST_RECORD);
    if let Some(item) = large {
        return Some(format!("{} has {} bytes", item.key, item.body.to_string().len()));
    }
    let of =
        |partition: &str| records.iter().filter(|item| item.key.partition.starts_with(partition)).count();
    let state = world.state();
    let oracle = &state.oracle;
    let told = oracle.runs.len() + oracle.attempts.len() + oracle.events.len() + oracle.refused_events.len();
    let asked = of("request#") + of("delivery#");
    let notices = of("notices#") + of("settled-notices#") + of("slack-threads#") + of("said#") + of("slack#");
    let most = told + asked + notices + RECORDS_OF_A_STACK * oracle.definitions.len() + RECORDS_BESIDES;
    (records.len() > most).then(|| format!("there are {} records; {most} are explained", records.len()))
}

/// An accepted delivery or request of which nothing became.
fn unanswered(world: &World) -> Option<String> {
    let deliveries: Vec<String> = world.state().oracle.owed(|oracle| &oracle.deliveries);
    for id in deliveries {
        let item = at_once(world.record(&Key::delivery(&id))).flatten();
        let delivery = item.and_then(|item| Versioned::<Delivery>::from_item(item).ok());
        if delivery.is_none_or(|delivery| delivery.outcome.is_none()) {
            return Some(format!("nothing became of delivery {id}"));
        }
    }
    let requests: Vec<String> = world.state().oracle.owed(|oracle| &oracle.requests);
    requests.into_iter().find_map(|id| {
        let item = at_once(world.record(&Key::request(id.parse().ok()?))).flatten()?;
        let request = Versioned::<Request>::from_item(item).ok()?;
        (request.outcome == Outcome::Pending).then(|| format!("request {id} was accepted and never decided"))
    })
}
