//! What must hold, checked over the whole history: the seven invariants of the design, as the records are written, as
//! tasks act, and once everything has settled.

mod acts;
mod approvals;
mod notices;
mod records;
pub(crate) mod settled;
mod troubles;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;
use yuba_core::attempt::Attempt;
use yuba_core::event::Event;
use yuba_core::id::{AttemptId, ContentDigest, RunId, StackId};
use yuba_core::message::Cause;
use yuba_core::record::Key;
use yuba_core::run::Run;
use yuba_core::slack::button::ButtonValue;
use yuba_core::source::{Definition, Observation};
use yuba_core::stack::Stack;
use yuba_core::time::Timestamp;

use crate::history::{Mark, Sign};
use crate::people::PROVIDERS;
use crate::world::State;
use approvals::Teams;
use troubles::Troubles;

/// Something happened that must not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which of the invariants it breaks, as the design numbers them.
    pub invariant: u8,
    /// What happened.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "invariant {}: {}", self.invariant, self.what)
    }
}

/// What was seen so far, and the first violation.
#[derive(Debug, Default)]
pub(crate) struct Oracle {
    stacks: BTreeMap<StackId, Stack>,
    definitions: BTreeMap<StackId, Definition>,
    observations: BTreeMap<StackId, Observation>,
    runs: BTreeMap<RunId, Run>,
    open_runs: BTreeMap<StackId, BTreeSet<RunId>>,
    attempts: BTreeMap<AttemptId, Attempt>,
    /// Attempts that have not ended, by stack.
    out: BTreeMap<StackId, BTreeSet<AttemptId>>,
    is_paused: bool,
    /// What people meant to approve.
    meant: Vec<Meant>,
    events: BTreeMap<(StackId, u64), Event>,
    refused_events: BTreeSet<(StackId, u64)>,
    deliveries: BTreeSet<String>,
    requests: BTreeSet<String>,
    /// Those of which nothing may become, because their message was given up.
    given_up: BTreeSet<String>,
    /// Records with a field of the next version.
    newer: BTreeMap<Key, Value>,
    /// The number of the last look at each source, by its partition.
    looks: BTreeMap<String, u64>,
    troubles: Troubles,
    teams: Teams,
    /// The providers and alerts that were taken over.
    declared: BTreeSet<Key>,
    /// Since when alerts send every event to every provider.
    alerts_since: Option<Timestamp>,
    /// The addresses at which those are answered whose presses were taken.
    presses: BTreeSet<String>,
    violation: Option<Violation>,
}

/// What somebody meant to approve.
#[derive(Debug, Clone)]
struct Meant {
    who: String,
    stack: StackId,
    /// The plan id that was named without a digest, where one was.
    plan: Option<String>,
    /// The content that was named; `None` where whatever waits was meant.
    content: Option<ContentDigest>,
}

impl State {
    /// Something happened that must not. The first is kept.
    pub(crate) fn violated(&mut self, invariant: u8, what: String) {
        let sign = Sign::default().marked(Mark::Violation);
        self.note_as(sign, || format!("VIOLATION of invariant {invariant}: {what}"));
        self.oracle.violation.get_or_insert(Violation { invariant, what });
    }
}

impl Oracle {
    pub(crate) fn violation(&self) -> Option<Violation> {
        self.violation.clone()
    }

    /// How many runs were made.
    pub(crate) fn runs(&self) -> u64 {
        u64::try_from(self.runs.len()).unwrap_or(u64::MAX)
    }

    /// How the runs ended, or stand: how many of each state, and how many of each kind of apply.
    pub(crate) fn states(&self) -> BTreeMap<String, u64> {
        let mut states = BTreeMap::new();
        for run in self.runs.values() {
            *states.entry(format!("{:?} {}", run.kind, run.state).to_lowercase()).or_default() += 1;
        }
        states
    }

    /// How many events the stack of a record has.
    pub(crate) fn events_of(&self, key: &Key) -> u64 {
        let id = key.partition.strip_prefix("stack#").and_then(|id| id.parse().ok());
        id.and_then(|id: StackId| self.stacks.get(&id)).map_or(0, |stack| stack.events)
    }

    /// The number of the last look at the source of a record.
    pub(crate) fn look_of(&self, key: &Key) -> u64 {
        self.looks.get(&key.partition).copied().unwrap_or(0)
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.is_paused
    }

    pub(crate) fn stacks(&self) -> impl Iterator<Item = &Stack> {
        self.stacks.values()
    }

    pub(crate) fn run(&self, run: RunId) -> Option<&Run> {
        self.runs.get(&run)
    }

    pub(crate) fn stack(&self, stack: StackId) -> Option<&Stack> {
        self.stacks.get(&stack)
    }

    pub(crate) fn definition(&self, stack: StackId) -> Option<&Definition> {
        self.definitions.get(&stack)
    }

    pub(crate) fn attempt(&self, attempt: AttemptId) -> Option<&Attempt> {
        self.attempts.get(&attempt)
    }

    /// A delivery was answered as accepted.
    pub(crate) fn accepted_delivery(&mut self, id: &str) {
        self.deliveries.insert(id.to_owned());
    }

    /// A message was given up: a delivery or request that it carried may stay without an outcome.
    pub(crate) fn gave_up(&mut self, cause: &Cause) {
        match cause {
            Cause::Delivery(id) => self.given_up.insert(id.to_string()),
            Cause::Request(id) => self.given_up.insert(id.to_string()),
            Cause::Event { stack, number } => self.given_up.insert(format!("{stack}-{number}")),
            _ => false,
        };
    }

    /// A request was answered as accepted.
    pub(crate) fn accepted_request(&mut self, id: &str) {
        self.requests.insert(id.to_owned());
    }

    /// A provider or an alert was taken over. With the last of them every event is told of.
    fn declared(&mut self, key: &Key, now: Timestamp) {
        self.declared.insert(key.clone());
        if self.declared.len() == 2 * PROVIDERS.len() {
            self.alerts_since.get_or_insert(now);
        }
    }

    /// A press was answered as taken.
    pub(crate) fn accepted_press(&mut self, address: String) {
        self.presses.insert(address);
    }

    /// Somebody presses a button that lets this content be applied.
    pub(crate) fn meant_by_press(&mut self, who: &str, value: &ButtonValue) {
        self.meant.push(Meant {
            who: who.to_owned(),
            stack: value.stack,
            plan: None,
            content: value.content,
        });
    }

    /// The name of a stack, as people type it.
    pub(crate) fn name_of(&self, stack: StackId) -> Option<String> {
        self.definitions.get(&stack).map(|definition| definition.name.to_string())
    }

    /// What was accepted, and of which something must become.
    fn owed(&self, accepted: impl Fn(&Self) -> &BTreeSet<String>) -> Vec<String> {
        accepted(self).difference(&self.given_up).cloned().collect()
    }

    /// An event whose publication was refused for good: it is given up.
    pub(crate) fn refused_event(&mut self, event: &Event) {
        self.refused_events.insert((event.stack, event.number));
    }

    /// Somebody approves: this content where it was seen, or whatever has this id, or whatever waits.
    pub(crate) fn meant_to_approve(
        &mut self,
        who: &str,
        stack: &Stack,
        plan: Option<&str>,
        content: Option<ContentDigest>,
    ) {
        let has_digest = plan.is_some_and(|plan| plan.contains('@'));
        self.meant.push(Meant {
            who: who.to_owned(),
            stack: stack.id,
            plan: plan.filter(|_| !has_digest).map(str::to_owned),
            content: content.filter(|_| has_digest),
        });
    }

    fn meant(&self, who: &str, run: &Run, content: ContentDigest) -> bool {
        let plan = run.plan.as_ref().map(|plan| plan.report.plan_id.to_string());
        self.meant.iter().any(|meant| {
            meant.who == who
                && meant.stack == run.stack
                && meant.content.is_none_or(|meant| meant == content)
                && (meant.plan.is_none() || meant.plan == plan)
        })
    }
}
