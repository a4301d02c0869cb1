//! What is written into a source's record, and when: a number before the first write, the rest after the last message.

use yuba_core::record::{Key, Record};
use yuba_core::source::{Seen, Source};
use yuba_ports::records::{load, update};
use yuba_ports::{PortError, Ports, Write};

use super::fan_out::Woken;
use crate::backoff::{self, Trouble};
use crate::git::Checkout;
use crate::report::Report;

/// Gives a look its number. Numbers are never given twice: a look that was cut leaves a gap. There is none where another
/// look got one since the source was loaded: that may have fetched later, and would be the older by its number.
pub(super) async fn give_number(ports: &Ports, source: &Source) -> Result<u64, PortError> {
    let mut given = None;
    change(ports, source, |current| {
        given = (current.observation == source.observation).then_some(source.observation + 1);
        current.observation = given.unwrap_or(current.observation);
    })
    .await?;
    given.ok_or_else(|| overtaken(source))
}

/// Demands, in the commit of what a look found, that no look got a number after it: what that found may be newer, also
/// where it had nothing to write.
pub(super) async fn is_newest(ports: &Ports, source: &Source, number: u64) -> Result<Write, PortError> {
    let current = load::<Source>(ports.store.as_ref(), &Key::source(&source.name)).await?;
    let current = current.filter(|current| current.observation == number).ok_or_else(|| overtaken(source))?;
    Ok(Write::Check { key: current.key(), expected: current.expected() })
}

fn overtaken(source: &Source) -> PortError {
    PortError::transient(format!("source {} vanished, or another look at it began meanwhile", source.name))
}

/// The source is not looked at: its due time goes where nothing is to be waited for.
pub(super) async fn rest(ports: &Ports, source: &Source, why: &str) -> Result<Report, PortError> {
    let waits_for_nothing = source.vanished.is_some() || source.spec.suspend;
    if waits_for_nothing && source.due.is_some() {
        change(ports, source, |source| {
            if source.vanished.is_some() || source.spec.suspend {
                source.due = None;
            }
        })
        .await?;
    }
    Ok(Report::Nothing(why.to_owned()))
}

/// The look found what was seen before.
pub(super) async fn unchanged(ports: &Ports, source: &Source) -> Result<Report, PortError> {
    let due = ports.clock.now() + source.spec.interval;
    change(ports, source, |source| {
        source.due = Some(due);
        source.failure = None;
    })
    .await?;
    let seen = source.seen.as_ref();
    let revision = seen.map(|seen| seen.revision.to_string()).unwrap_or_default();
    let observation = seen.map_or(0, |seen| seen.observation);
    Ok(Report::Nothing(format!("nothing changed since observation {observation} ({revision})")))
}

/// The look is complete: every stack that it concerned was woken.
pub(super) async fn looked(
    ports: &Ports,
    source: &Source,
    (fetched, number): (&dyn Checkout, u64),
    woken: Woken,
) -> Result<Report, PortError> {
    let now = ports.clock.now();
    let (revision, tree) = (fetched.revision().clone(), fetched.tree().clone());
    let seen = Seen { revision, tree, at: now, observation: number };
    change(ports, source, |current| {
        // A look with a greater number is under way or done: what it found is newer.
        if current.observation != number {
            return;
        }
        current.seen = Some(seen.clone());
        current.definitions_seen = source.definitions;
        current.failure = None;
        // Stacks that were defined meanwhile were not looked for.
        let is_all = current.definitions == source.definitions;
        current.due = Some(if is_all { now + current.spec.interval } else { now });
    })
    .await?;
    let Woken { woke, of } = woken;
    Ok(Report::Looked { source: source.name.clone(), observation: number, woke, of })
}

/// The look failed.
pub(super) async fn failed(ports: &Ports, source: &Source, trouble: &Trouble) -> Result<Report, PortError> {
    let now = ports.clock.now();
    let (failure, again) = backoff::after(source.failure.as_ref(), trouble, source.spec.interval, now);
    change(ports, source, |source| {
        source.failure = Some(failure.clone());
        source.due = Some(again);
    })
    .await?;
    Ok(Report::Failed { why: trouble.message.clone(), again })
}

async fn change(
    ports: &Ports,
    source: &Source,
    mut change: impl FnMut(&mut Source),
) -> Result<Option<Source>, PortError> {
    update::<Source, _>(ports.store.as_ref(), &Key::source(&source.name), |source| {
        let before = source.clone();
        change(source);
        *source != before
    })
    .await
}
