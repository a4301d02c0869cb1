//! What must hold of the records, as the simulation's oracles say it of theirs: at any moment, and once all is calm.
//! Each answers with what it found wrong, a sentence each, beginning with the number of the promise.

use yuba_core::attempt::{Attempt, AttemptState};
use yuba_core::event::{Event, EventKind};
use yuba_core::id::{AttemptId, RunId};
use yuba_core::run::{Failure, FailureClass, Run, RunState};
use yuba_core::stack::Stack;

use super::records::Records;

/// What must hold of the attempts whose tasks live.
pub(crate) fn of_tasks(now: &Records, living: &[AttemptId]) -> Vec<String> {
    living.iter().filter_map(|attempt| acts_without_claim(now, *attempt)).collect()
}

/// What must hold of the records after any commit. `before` is an earlier look.
pub(crate) fn at_any_moment(before: &Records, now: &Records) -> Vec<String> {
    let mut wrong = Vec::new();
    for stack in now.stacks.values() {
        wrong.extend(two_attempts_out(now, stack));
        wrong.extend(held_by_another_run(now, stack));
        wrong.extend(event_of_the_future(now, stack));
    }
    wrong.extend(changed_after_its_end(before, now));
    wrong
}

/// What must hold besides once faults have stopped and everything had its time.
pub(crate) fn when_calm(now: &Records, accepted: &[String]) -> Vec<String> {
    let mut wrong: Vec<String> = now.runs.values().filter_map(|run| ended_without_reason(now, run)).collect();
    for stack in now.stacks.values() {
        wrong.extend(missing_event(now, stack));
        wrong.extend(
            stack.outbox.first().map(|effect| format!("5: {}: {} is still to do", stack.name, effect.key)),
        );
    }
    let answered = |id: &&String| now.deliveries.get(*id).is_some_and(|delivery| delivery.outcome.is_some());
    wrong.extend(
        accepted.iter().filter(|id| !answered(id)).map(|id| format!("5: nothing became of delivery {id}")),
    );
    wrong
}

/// Failures by a lock that name none, or one that nobody took.
pub(crate) fn unknown_locks(now: &Records, taken: &[String]) -> Vec<String> {
    let is_known = |failure: &Failure| {
        let lock = failure.lock.as_ref();
        lock.is_some_and(|lock| taken.iter().any(|taken| !lock.id.is_empty() && taken.contains(&lock.id)))
    };
    let failed = now.runs.values().filter_map(|run| Some((run, run.failure.as_ref()?)));
    failed
        .filter(|(_, failure)| failure.class == FailureClass::Locked && !is_known(failure))
        .map(|(run, failure)| format!("7: {} names no lock that was taken: {failure:?}", title(run)))
        .collect()
}

fn title(run: &Run) -> String {
    format!("run {} of {}", run.number, run.name)
}

fn two_attempts_out(now: &Records, stack: &Stack) -> Option<String> {
    let is_out = |attempt: &&Attempt| {
        attempt.stack == stack.id && matches!(attempt.state, AttemptState::Issued | AttemptState::Claimed)
    };
    let out: Vec<String> =
        now.attempts.values().filter(is_out).map(|attempt| attempt.id.to_string()).collect();
    (out.len() > 1).then(|| format!("1: attempts of {} are out at once: {out:?}", stack.name))
}

fn held_by_another_run(now: &Records, stack: &Stack) -> Option<String> {
    let open = now.runs.values().filter(|run| run.stack == stack.id && !run.state.is_terminal());
    let open: Vec<RunId> = open.map(|run| run.id).collect();
    let holds: Vec<RunId> = stack.run.into_iter().collect();
    (open != holds).then(|| format!("7: {} is held by {holds:?}, and these go on: {open:?}", stack.name))
}

fn event_of_the_future(now: &Records, stack: &Stack) -> Option<String> {
    let (&(_, last), _) = now.events.range((stack.id, 0)..=(stack.id, u64::MAX)).next_back()?;
    (last > stack.events).then(|| format!("6: {} has event {last} of {}", stack.name, stack.events))
}

/// A task that lives though its attempt was claimed and then closed. One that was never claimed may live, and is refused.
fn acts_without_claim(now: &Records, living: AttemptId) -> Option<String> {
    let attempt = now.attempts.get(&living)?;
    let is_over = attempt.state == AttemptState::Closed && attempt.claimed_at.is_some();
    is_over.then(|| format!("1: the claim of {living} was closed, and its task lives"))
}

fn changed_after_its_end(before: &Records, now: &Records) -> Vec<String> {
    let runs =
        before.runs.values().filter(|run| run.state.is_terminal() && now.runs.get(&run.id) != Some(run));
    let is_over = |attempt: &&Attempt| matches!(attempt.state, AttemptState::Reported | AttemptState::Closed);
    let attempts = before.attempts.values().filter(is_over).filter(|was| {
        now.attempts.get(&was.id).map(|is| (is.state, &is.report)) != Some((was.state, &was.report))
    });
    let events = before.events.iter().filter(|(key, event)| now.events.get(key) != Some(event));
    runs.map(|run| format!("7: {} had ended, and was changed", title(run)))
        .chain(attempts.map(|attempt| format!("1: attempt {} had ended, and was changed", attempt.id)))
        .chain(events.map(|((_, number), event)| format!("6: event {number} of {} was changed", event.name)))
        .collect()
}

/// A run that has not ended and waits for nobody, or whose end was not told.
fn ended_without_reason(now: &Records, run: &Run) -> Option<String> {
    if !run.state.is_terminal() {
        let waits = matches!(run.state, RunState::AwaitingApproval | RunState::AwaitingAdoption);
        return (!waits).then(|| format!("5: {} is still {}", title(run), run.state));
    }
    if run.ended_at.is_none() || run.attempt_out().is_some() {
        return Some(format!("5: {} is {} and goes on", title(run), run.state));
    }
    let tells = |event: &Event| event.run == Some(run.id) && tells_of_an_end(event.kind);
    let has_reason = run.state != RunState::Failed || run.failure.is_some();
    let is_told = has_reason && now.events.values().any(tells);
    (!is_told).then(|| format!("5: {} is {}, and nothing says why", title(run), run.state))
}

fn tells_of_an_end(kind: EventKind) -> bool {
    use EventKind::{RunApplied, RunDropped, RunFailed, RunPlanned, RunUnchanged};
    matches!(kind, RunApplied | RunDropped | RunFailed | RunPlanned | RunUnchanged)
}

fn missing_event(now: &Records, stack: &Stack) -> Option<String> {
    let missing = (1..=stack.events).find(|number| !now.events.contains_key(&(stack.id, *number)))?;
    Some(format!("6: event {missing} of {} of {} was never published", stack.events, stack.name))
}
