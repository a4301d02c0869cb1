//! Reads everything that a decision about a stack reads.

use std::collections::BTreeMap;

use yuba_core::attempt::{Attempt, AttemptState};
use yuba_core::decide::{Dependency, Records, TaskSeen, dependency_blocked_by, values_name};
use yuba_core::id::{RequestId, RunId, StackId, StackName};
use yuba_core::message::{AttemptNews, Cause, Message};
use yuba_core::record::{Installation, Key, Record, StackAlias};
use yuba_core::request::{Ask, Outcome, Request};
use yuba_core::run::Run;
use yuba_core::source::{Definition, Observation};
use yuba_core::spec::{HostSecret, ValuesKind};
use yuba_core::stack::Stack;
use yuba_ports::around::{LoadedFormer, bound, formers, holder, same_state};
use yuba_ports::records::{self, Versioned};
use yuba_ports::{Expected, PortError, Ports, TaskStatus, Write};

use crate::trouble::load_trouble;

/// What was read: the values for the decision, and the versions for the commit.
pub(crate) struct Loaded {
    pub(crate) records: Records,
    pub(crate) stack: Versioned<Stack>,
    pub(crate) run: Option<Versioned<Run>>,
    pub(crate) attempt: Option<Versioned<Attempt>>,
    pub(crate) request: Option<Versioned<Request>>,
    pub(crate) formers: Vec<LoadedFormer>,
    /// That definition, observation, teams and freezes are still those that were read: what the manifest allowed a moment ago may
    /// be forbidden by now.
    pub(crate) unchanged: Vec<Write>,
}

/// Loads a stack's records; `None` where no record names the stack.
pub(crate) async fn load(ports: &Ports, id: StackId, message: &Message) -> Result<Option<Loaded>, PortError> {
    let (definition, same_definition) = checked::<Definition>(ports, Key::definition(id)).await?;
    let stack = match (records::load::<Stack>(&*ports.store, &Key::stack(id)).await?, &definition) {
        (Some(stack), _) => stack,
        (None, Some(definition)) => {
            Versioned::new(Stack::new(id, definition.name.clone(), ports.clock.now()))
        }
        (None, None) => return Ok(None),
    };
    let run = load_run(ports, id, stack.run).await?;
    let out = run.as_ref().and_then(|run| run.attempt_out());
    let attempt = match out {
        Some(out) => records::load::<Attempt>(&*ports.store, &Key::attempt(out)).await?,
        None => None,
    };
    let request = load_request(ports, message).await?;
    let (observation, same_observation) = checked::<Observation>(ports, Key::observation(id)).await?;
    let store = &*ports.store;
    let formers = formers(store, &stack, definition.as_ref(), request.as_deref()).await?;
    let bound = bound(store).await?;
    let records = Records {
        drifted: load_run(ports, id, stack.drift.as_ref().map(|drift| drift.run))
            .await?
            .map(Versioned::into_value),
        named: load_run(ports, id, request.as_ref().and_then(|request| named_run(request, &stack)))
            .await?
            .map(Versioned::into_value),
        task: task_seen(ports, attempt.as_deref(), message).await?,
        values: values(ports, definition.as_ref()).await?,
        hosts: hosts(ports, definition.as_ref()).await?,
        dependencies: dependencies(ports, definition.as_ref()).await?,
        same_state: same_state(store, id, definition.as_ref(), observation.as_ref()).await?,
        holder: holder(store, id, (definition.as_ref(), observation.as_ref()), request.as_deref()).await?,
        formers: formers.iter().map(|loaded| loaded.former.clone()).collect(),
        observation,
        trouble: load_trouble(ports, &stack).await?,
        paused: value::<Installation>(ports, &Key::installation())
            .await?
            .and_then(|installation| installation.paused),
        stack: stack.clone().into_value(),
        teams: bound.teams,
        freezes: bound.freezes,
        definition,
        run: run.clone().map(Versioned::into_value),
        attempt: attempt.clone().map(Versioned::into_value),
        request: request.clone().map(Versioned::into_value),
    };
    let unchanged = vec![same_definition, same_observation, bound.unchanged];
    Ok(Some(Loaded { records, stack, run, attempt, request, formers, unchanged }))
}

/// A record, and the condition that it is still the same when the decision is committed.
async fn checked<T: Record>(ports: &Ports, key: Key) -> Result<(Option<T>, Write), PortError> {
    let known = records::load::<T>(&*ports.store, &key).await?;
    let expected = known.as_ref().map_or(Expected::Absent, Versioned::expected);
    Ok((known.map(Versioned::into_value), Write::Check { key, expected }))
}

async fn value<T: Record>(ports: &Ports, key: &Key) -> Result<Option<T>, PortError> {
    Ok(records::load::<T>(&*ports.store, key).await?.map(Versioned::into_value))
}

async fn load_run(
    ports: &Ports,
    stack: StackId,
    run: Option<RunId>,
) -> Result<Option<Versioned<Run>>, PortError> {
    match run {
        Some(run) => records::load(&*ports.store, &Key::run(stack, run)).await,
        None => Ok(None),
    }
}

/// The request that the message names, while it is undecided, or was refused at the door and not written down yet.
async fn load_request(ports: &Ports, message: &Message) -> Result<Option<Versioned<Request>>, PortError> {
    let Cause::Request(id) = &message.cause else { return Ok(None) };
    let id: RequestId = *id;
    let request = records::load::<Request>(&*ports.store, &Key::request(id)).await?;
    Ok(request.filter(|request| request.outcome == Outcome::Pending || request.is_refused_unrecorded()))
}

fn named_run(request: &Request, stack: &Stack) -> Option<RunId> {
    if let Some(seen) = &request.seen {
        return Some(seen.run);
    }
    match &request.ask {
        Ask::Recover { run } => Some(*run),
        Ask::Adopt(_) | Ask::Unlock { .. } => stack.latest,
        _ => None,
    }
}

/// What the launcher says of the attempt that is out, when the message is about its silence or its end.
async fn task_seen(
    ports: &Ports,
    attempt: Option<&Attempt>,
    message: &Message,
) -> Result<Option<TaskSeen>, PortError> {
    let Some(attempt) = attempt else { return Ok(None) };
    let ended = matches!(attempt.state, AttemptState::Reported | AttemptState::Closed);
    let about_it =
        matches!(&message.cause, Cause::Due { .. } | Cause::Attempt { what: AttemptNews::Stopped, .. });
    if ended || !about_it {
        return Ok(None);
    }
    Ok(Some(match ports.launcher.describe(attempt.id).await? {
        TaskStatus::NeverStarted => TaskSeen::NeverStarted,
        TaskStatus::Running => TaskSeen::Running,
        TaskStatus::Stopped { how } => TaskSeen::Stopped(how),
    }))
}

/// Versions of the secrets and config maps that the stack reads.
async fn values(
    ports: &Ports,
    definition: Option<&Definition>,
) -> Result<BTreeMap<String, String>, PortError> {
    let mut versions = BTreeMap::new();
    for from in definition.iter().flat_map(|definition| &definition.spec.vars_from) {
        if let Some(version) = ports.secrets.version(from.kind, &from.name).await? {
            versions.insert(values_name(from.kind, &from.name), version);
        }
    }
    Ok(versions)
}

/// Versions of the secrets that open hosts of modules and providers.
async fn hosts(
    ports: &Ports,
    definition: Option<&Definition>,
) -> Result<BTreeMap<String, String>, PortError> {
    let mut versions = BTreeMap::new();
    for HostSecret { secret, .. } in definition.iter().flat_map(|definition| &definition.spec.hosts) {
        if let Some(version) = ports.secrets.version(ValuesKind::Secret, secret).await? {
            versions.insert(values_name(ValuesKind::Secret, secret), version);
        }
    }
    Ok(versions)
}

async fn dependencies(ports: &Ports, definition: Option<&Definition>) -> Result<Vec<Dependency>, PortError> {
    let mut dependencies = Vec::new();
    for name in definition.iter().flat_map(|definition| &definition.spec.depends_on) {
        dependencies.push(dependency(ports, name).await?);
    }
    Ok(dependencies)
}

async fn dependency(ports: &Ports, name: &StackName) -> Result<Dependency, PortError> {
    let Some(alias) = value::<StackAlias>(ports, &Key::stack_name(name)).await? else {
        return Ok(Dependency { name: name.clone(), blocked_by: dependency_blocked_by(None, None, None) });
    };
    let stack = value::<Stack>(ports, &Key::stack(alias.stack)).await?;
    let definition = value::<Definition>(ports, &Key::definition(alias.stack)).await?;
    let observation = value::<Observation>(ports, &Key::observation(alias.stack)).await?;
    let blocked_by = dependency_blocked_by(stack.as_ref(), definition.as_ref(), observation.as_ref());
    Ok(Dependency { name: name.clone(), blocked_by })
}
