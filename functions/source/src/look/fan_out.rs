//! The fan-out of a look: each stack whose closure differs gets a new observation and is woken.

use std::collections::BTreeMap;

use yuba_core::id::{ClosureDigest, StackName};
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::people::Identity;
use yuba_core::record::Record;
use yuba_core::source::Source;
use yuba_core::state_address::known_address;
use yuba_git::closure::Before;
use yuba_ports::{Committed, PortError, Ports, PutMode, Write};

use super::advance;
use super::artifact;
use super::brought;
use super::observe::{Seeing, Verdict, judge};
use super::stacks::{self, StackThere};
use crate::backoff::Trouble;
use crate::git::{Checkout, Work};
use crate::states::{self, Move};

/// How many stacks are written and woken at once: a commit holds up to 100 records.
const BATCH: usize = 50;

/// One look under way.
pub(super) struct Look<'a> {
    /// The source as it was loaded.
    pub(super) source: &'a Source,
    /// What was fetched.
    pub(super) fetched: &'a dyn Checkout,
    /// The look's number.
    pub(super) number: u64,
    /// Whoever hosts say pushed what was fetched.
    pub(super) pushers: Vec<Identity>,
}

/// How many stacks were woken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Woken {
    /// Of these.
    pub(super) woke: usize,
    /// All stacks of the source.
    pub(super) of: usize,
}

/// Compares every stack of the source, writes and wakes. May be cut anywhere and run again under another number.
pub(super) async fn fan_out(ports: &Ports, look: &Look<'_>) -> Result<Result<Woken, Trouble>, PortError> {
    let stacks = stacks::of_source(ports, &look.source.name).await?;
    let of = stacks.len();
    let object = format!("sources/{}/index", look.source.name);
    let index = ports.blobs.get(&object).await?;
    let worked = match look.fetched.closures(work(look, &stacks, index.clone())).await? {
        Ok(worked) => worked,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let mut seeing = Seeing { look, worked: &worked, backends: BTreeMap::new(), at: ports.clock.now() };
    if stacks.iter().any(|(name, stack)| seeing.needs_artifact(name, stack)) {
        artifact::store(ports, look.fetched).await?;
    }
    seeing.backends = match look.fetched.backends(paths(&seeing, &stacks)).await? {
        Ok(backends) => backends,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let mut verdicts: Vec<(StackThere, Verdict)> = stacks
        .into_iter()
        .map(|(name, stack)| {
            let verdict = judge(&seeing, &name, &stack);
            (stack, verdict)
        })
        .filter(|(_, verdict)| *verdict != Verdict::Unchanged)
        .collect();
    brought::note(look, &mut verdicts).await?;
    let woke = carry_out(ports, look, &verdicts).await?;
    // Last: nobody waits for it, and without it the next look only takes longer.
    if index.as_ref() != Some(&worked.index) {
        ports.blobs.put(&object, &worked.index, PutMode::Replace).await?;
    }
    Ok(Ok(Woken { woke, of }))
}

/// The directories of stacks whose code may name another backend now.
fn paths(seeing: &Seeing<'_>, stacks: &BTreeMap<StackName, StackThere>) -> BTreeMap<StackName, String> {
    let needed = stacks.iter().filter(|(name, stack)| seeing.needs_code(name, stack));
    needed.map(|(name, stack)| (name.clone(), stack.definition.spec.path.clone())).collect()
}

async fn carry_out(
    ports: &Ports,
    look: &Look<'_>,
    verdicts: &[(StackThere, Verdict)],
) -> Result<usize, PortError> {
    let moves: Vec<Move> = verdicts.iter().map(moved).collect();
    states::enter(ports, &moves).await?;
    let mut woke = 0;
    for batch in verdicts.chunks(BATCH) {
        woke += write_and_wake(ports, look, batch).await?;
    }
    states::leave(ports, &moves).await?;
    Ok(woke)
}

fn moved((stack, verdict): &(StackThere, Verdict)) -> Move {
    let spec = &stack.definition.spec;
    let before = known_address(spec, stack.observation.as_deref());
    let after = match verdict {
        Verdict::Observe(observation) => known_address(spec, Some(observation)),
        Verdict::Unchanged | Verdict::WakeAgain(_) => before.clone(),
    };
    Move { stack: stack.id, name: stack.definition.name.clone(), before, after }
}

fn work(look: &Look<'_>, stacks: &BTreeMap<StackName, StackThere>, index: Option<Vec<u8>>) -> Work {
    let tree = look.source.seen.as_ref().map(|seen| seen.tree.clone());
    Work {
        stacks: stacks.iter().map(|(name, stack)| (name.clone(), stack.paths())).collect(),
        before: Before { tree, digests: digests(look.source, stacks) },
        index,
    }
}

/// The digests that were observed in this source, but of stacks with problems: whether these are mended is looked at
/// each time.
fn digests(source: &Source, stacks: &BTreeMap<StackName, StackThere>) -> BTreeMap<StackName, ClosureDigest> {
    let seen = stacks.iter().filter_map(|(name, stack)| Some((name, stack.observation.as_ref()?)));
    seen.filter(|(_, observation)| observation.source == source.name && observation.problems.is_empty())
        .map(|(name, observation)| (name.clone(), observation.closure))
        .collect()
}

/// Writes the observations of a batch together, then wakes its stacks.
async fn write_and_wake(
    ports: &Ports,
    look: &Look<'_>,
    batch: &[(StackThere, Verdict)],
) -> Result<usize, PortError> {
    let mut writes = Vec::new();
    let mut messages = Vec::new();
    for (stack, verdict) in batch {
        let number = match verdict {
            Verdict::Unchanged => continue,
            Verdict::WakeAgain(number) => *number,
            Verdict::Observe(observation) => {
                writes.push(observation.put()?);
                look.number
            }
        };
        let cause = Cause::Observation { source: look.source.name.clone(), number };
        messages.push(Message::new(Wake::Stack(stack.id), cause));
    }
    if !writes.is_empty() {
        write(ports, look, writes).await?;
    }
    let woke = messages.len();
    ports.queue.send(messages).await?;
    Ok(woke)
}

/// Writes observations, while no newer look is under way.
async fn write(ports: &Ports, look: &Look<'_>, writes: Vec<Write>) -> Result<(), PortError> {
    loop {
        let mut writes = writes.clone();
        writes.push(advance::is_newest(ports, look.source, look.number).await?);
        match ports.store.commit(writes).await? {
            Committed::Done => return Ok(()),
            // What else stands in its record may change meanwhile.
            Committed::Conflict(key) if key == look.source.key() => {}
            Committed::Conflict(key) => {
                return Err(PortError::transient(format!("another look wrote {key} meanwhile")));
            }
        }
    }
}
