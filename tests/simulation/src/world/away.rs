//! What cannot be reached for a while: one part from another, or what the plans of all stacks need; and messages of which
//! whoever handles them dies.

use std::collections::BTreeSet;

use yuba_core::time::{Span, Timestamp};
use yuba_ports::Received;

use super::State;
use crate::history::Sign;
use crate::lane::Lane;

/// Who calls others.
const CALLERS: [Lane; 7] = [
    Lane::People,
    Lane::Server,
    Lane::Scheduler,
    Lane::Source,
    Lane::Orchestrator,
    Lane::Notifier,
    Lane::Task,
];
/// Who is called.
pub(crate) const CALLED: [Lane; 9] = [
    Lane::Server,
    Lane::GitHost,
    Lane::Queue,
    Lane::Store,
    Lane::Blobs,
    Lane::Secrets,
    Lane::Publisher,
    Lane::Services,
    Lane::Launcher,
];

/// What cannot be reached.
#[derive(Debug, Default)]
pub(crate) struct Away {
    /// Two parts, and until when.
    cuts: Vec<(Lane, Lane, Timestamp)>,
    /// What all plans need is away until then.
    plans_fail_until: Option<Timestamp>,
    /// Messages that kill whoever handles them.
    poison: BTreeSet<String>,
}

impl State {
    /// Something may break off in this turn.
    pub(crate) fn break_off(&mut self) {
        let (partition, outage) = (self.rates.partition, self.rates.outage);
        if self.happens(partition)
            && let (Some(from), Some(to)) =
                (self.chance.one_of(&CALLERS).copied(), self.chance.one_of(&CALLED).copied())
        {
            let until = self.now + Span(self.chance.between(10_000, 900_000));
            self.away.cuts.push((from, to, until));
            self.note_by_world(|| format!("cuts {} off from {} until {until}", from.words(), to.words()));
        }
        if self.happens(outage) {
            let until = self.now + Span(self.chance.between(600_000, 6 * 3_600_000));
            self.away.plans_fail_until = Some(until);
            self.note_by_world(|| format!("takes the registry away until {until}"));
        }
    }

    /// So many times of a hundred thousand.
    fn happens(&mut self, rate: u32) -> bool {
        let happens = rate > 0 && self.chance.below(100_000) < rate as usize;
        self.faults += u64::from(happens);
        happens
    }

    fn note_by_world(&mut self, what: impl FnOnce() -> String) {
        "the world".clone_into(&mut self.current.name);
        self.note_as(Sign::fault(), what);
    }

    /// Everything can be reached again.
    pub(crate) fn mend_all(&mut self) {
        self.away = Away::default();
    }

    /// Whether one part cannot reach another now.
    pub(crate) fn is_cut(&self, from: Lane, to: Lane) -> bool {
        self.away.cuts.iter().any(|cut| (cut.0, cut.1) == (from, to) && self.now < cut.2)
    }

    /// Whether plans fail of what all of them need.
    pub(crate) fn plans_fail(&self) -> bool {
        self.away.plans_fail_until.is_some_and(|until| self.now < until)
    }

    /// A message may be poison from now on.
    pub(super) fn may_poison(&mut self, id: &str) {
        let rate = self.rates.poison;
        if self.goes_wrong(rate) {
            self.away.poison.insert(id.to_owned());
        }
    }

    /// A message is given up: nothing comes of it, and of what it carries perhaps neither.
    pub(crate) fn dropped(&mut self, received: &Received) {
        let id = received.message.deduplication_id();
        self.note_as(Sign::fault(), || format!("{id} is dropped"));
        self.line.ack(received);
        self.away.poison.remove(&id);
        self.oracle.gave_up(&received.message.cause);
    }

    /// Whether whoever handles the message dies of it.
    pub(crate) fn is_poison(&self, received: &Received) -> bool {
        self.away.poison.contains(&received.message.deduplication_id())
    }
}
