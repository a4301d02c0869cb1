//! What must hold of records as they are written.

use serde_json::Value;
use yuba_core::attempt::{Attempt, AttemptState};
use yuba_core::id::{ContentDigest, Phase, RunId};
use yuba_core::people::Team;
use yuba_core::record::{Installation, Key};
use yuba_core::request::{Decision, DecisionVerdict};
use yuba_core::run::{Run, RunKind, RunState};
use yuba_core::source::{Definition, Observation, Reason};
use yuba_core::spec::ApprovePlan;
use yuba_core::stack::Stack;
use yuba_core::trouble::TroubleNotice;
use yuba_ports::Write;

use super::approvals::Doubt;
use crate::history::Sign;
use crate::world::State;
use crate::world::store::{NEWER, keeps_unknown};

/// More effects than a stack ever has to do at once.
const MOST_EFFECTS: usize = 60;
/// More messages than ever wait at once.
const MOST_MESSAGES: usize = 600;
/// More attempts than a run ever has within a simulation.
const MOST_ATTEMPTS: usize = 40;

impl State {
    /// A commit was done: first what it says of runs, then of attempts, then of the stack.
    pub(crate) fn wrote<'a>(&mut self, writes: &'a [Write]) {
        let put = |write: &'a Write| match write {
            Write::Put { key, body, .. } => Some((rank(key), key, body)),
            Write::Delete { .. } | Write::Check { .. } => None,
        };
        let mut puts: Vec<(u8, &Key, &Value)> = writes.iter().filter_map(put).collect();
        puts.sort_by_key(|(rank, ..)| *rank);
        for (_, key, body) in &puts {
            self.wrote_suspension(key, body);
        }
        for (_, key, body) in puts {
            self.wrote_one(key, body);
        }
        for write in writes {
            if let Write::Delete { key, .. } = write {
                self.oracle.troubles.deleted(key);
                self.oracle.teams.deleted(key);
            }
        }
        if self.line.len() > MOST_MESSAGES {
            self.violated(5, format!("{} messages wait", self.line.len()));
        }
    }

    /// A person's suspension ends in the very commit that issues what waited for it.
    fn wrote_suspension(&mut self, key: &Key, body: &Value) {
        let id = key.partition.strip_prefix("stack#").and_then(|id| id.parse().ok());
        let stack = id.filter(|_| key.sort == "stack").and_then(|id| self.oracle.stacks.get_mut(&id));
        if let (Some(stack), Some(Value::Null)) = (stack, body.get("suspended")) {
            stack.suspended = None;
        }
    }

    /// What another version wrote into a record stays there.
    fn wrote_unknown(&mut self, key: &Key, body: &Value) {
        if !keeps_unknown(key) {
            return;
        }
        let field = body.get(NEWER).cloned();
        if field.is_none() && self.oracle.newer.contains_key(key) {
            return self.violated(0, format!("{key} lost a field that the next version wrote"));
        }
        if let Some(field) = field {
            self.oracle.newer.insert(key.clone(), field);
        }
    }

    fn wrote_one(&mut self, key: &Key, body: &Value) {
        self.wrote_unknown(key, body);
        let kind = key.sort.split('#').next().unwrap_or_default();
        let read = match (key.partition.split('#').next(), kind) {
            (Some("stack"), "run") => parse::<Run>(body).map(|run| self.wrote_run(run)),
            (Some("stack"), "stack") => parse::<Stack>(body).map(|stack| self.wrote_stack(stack)),
            (Some("stack"), "definition") => parse::<Definition>(body).map(|definition| {
                let Definition { name, spec, .. } = &definition;
                self.history.note(self.now, &self.current.name, Sign::default(), || {
                    format!(
                        "defines {name}: approvePlan {:?}, approval {:?}",
                        spec.approve_plan, spec.approval
                    )
                });
                self.oracle.definitions.insert(definition.stack, definition);
            }),
            (Some("stack"), "observation") => {
                parse::<Observation>(body).map(|seen| self.wrote_observation(seen))
            }
            (Some("source"), "source") => {
                let look = body.get("observation").and_then(Value::as_u64).unwrap_or(0);
                self.oracle.looks.insert(key.partition.clone(), look);
                Some(())
            }
            (Some("teams"), "team") => parse::<Team>(body).map(|team| self.oracle.teams.wrote(key, team)),
            (Some("providers" | "alerts"), _) => {
                self.oracle.declared(key, self.now);
                Some(())
            }
            (Some("attempt"), _) => parse::<Attempt>(body).map(|attempt| self.wrote_attempt(&attempt)),
            (Some("trouble-notice"), _) => parse::<TroubleNotice>(body).map(|notice| self.noticed(notice)),
            (Some("installation"), _) => parse::<Installation>(body).map(|installation| {
                self.oracle.is_paused = installation.paused.is_some();
            }),
            _ => Some(()),
        };
        if read.is_none() {
            self.violated(0, format!("{key} was written and cannot be read"));
        }
    }

    fn wrote_observation(&mut self, seen: Observation) {
        let before = self.oracle.observations.get(&seen.stack);
        if before.is_some_and(|before| before.source == seen.source && before.number >= seen.number) {
            let what = format!("observation {} of {} was written after a newer one", seen.number, seen.stack);
            return self.violated(5, what);
        }
        self.oracle.observations.insert(seen.stack, seen);
    }

    fn wrote_run(&mut self, run: Run) {
        let before = self.oracle.runs.get(&run.id).cloned();
        let open = self.oracle.open_runs.entry(run.stack).or_default();
        if run.state.is_terminal() {
            open.remove(&run.id)
        } else {
            open.insert(run.id)
        };
        if let Some(before) = &before
            && before.state.is_terminal()
            && *before != run
        {
            return self.violated(7, format!("run {} of {} ended and was changed", run.number, run.name));
        }
        if before.as_ref().is_some_and(|before| !keeps_decisions(before, &run)) {
            return self.violated(3, format!("run {} of {} lost a decision", run.number, run.name));
        }
        if let Some(what) = self.is_of_stranger(before.as_ref(), &run) {
            return self.violated(3, what);
        }
        if before.is_some_and(|before| before.kind != run.kind) {
            return self
                .violated(4, format!("run {} of {} became a {:?} run", run.number, run.name, run.kind));
        }
        if run.state == RunState::Applying && matches!(run.kind, RunKind::Drift | RunKind::Preview) {
            return self.violated(4, format!("run {} is a {:?} run and applies", run.number, run.kind));
        }
        if let Some(twice) = counted_twice(&run.decisions) {
            return self.violated(3, format!("a decision of {} counts twice", twice.by.who));
        }
        if run.attempts.len() > MOST_ATTEMPTS {
            return self.violated(5, format!("run {} of {} goes on without end", run.number, run.name));
        }
        self.oracle.runs.insert(run.id, run);
    }

    fn wrote_attempt(&mut self, attempt: &Attempt) {
        let before = self.oracle.attempts.insert(attempt.id, attempt.clone());
        let from = before.as_ref().map(|before| before.state);
        // A run may be cancelled in the very decision that makes its attempt.
        let legal = matches!(
            (from, attempt.state),
            (None, AttemptState::Issued | AttemptState::Closed)
                | (Some(AttemptState::Issued), _)
                | (
                    Some(AttemptState::Claimed),
                    AttemptState::Claimed | AttemptState::Reported | AttemptState::Closed
                )
        );
        if !legal && before.as_ref() != Some(attempt) {
            return self
                .violated(1, format!("attempt {} went from {from:?} to {:?}", attempt.id, attempt.state));
        }
        let out = self.oracle.out.entry(attempt.stack).or_default();
        if matches!(attempt.state, AttemptState::Issued | AttemptState::Claimed) {
            out.insert(attempt.id);
        } else {
            out.remove(&attempt.id);
        }
        match (from, attempt.state) {
            (None, AttemptState::Issued) if attempt.id.phase == Phase::Apply => self.issued_apply(attempt),
            (Some(AttemptState::Issued), AttemptState::Claimed) => self.was_claimed(attempt),
            (Some(AttemptState::Claimed), AttemptState::Closed) => self.was_closed(attempt),
            _ => {}
        }
    }

    fn wrote_stack(&mut self, stack: Stack) {
        let out = self.oracle.out.get(&stack.id).map_or(0, std::collections::BTreeSet::len);
        if out > 1 {
            return self.violated(1, format!("{out} attempts of {} are out at once", stack.name));
        }
        let open: Vec<RunId> = self.oracle.open_runs.get(&stack.id).into_iter().flatten().copied().collect();
        if open != stack.run.into_iter().collect::<Vec<_>>() {
            let what =
                format!("{} is held by {:?}, and these have not ended: {open:?}", stack.name, stack.run);
            return self.violated(7, what);
        }
        if stack.outbox.len() > MOST_EFFECTS {
            return self.violated(5, format!("{} effects of {} wait", stack.outbox.len(), stack.name));
        }
        let now = self.now;
        if let Some(what) = self.oracle.troubles.wrote(&stack, &self.oracle.definitions, now) {
            self.violated(6, what);
        }
        self.oracle.stacks.insert(stack.id, stack);
    }

    /// An apply was issued: somebody must have allowed it, and nothing may stand against it.
    fn issued_apply(&mut self, attempt: &Attempt) {
        let Some(run) = self.oracle.runs.get(&attempt.id.run).cloned() else {
            return self.violated(2, format!("apply {} belongs to no run", attempt.id));
        };
        let Some(plan) = run.plan.clone() else {
            return self.violated(2, format!("apply {} has no plan", attempt.id));
        };
        let named = attempt.job.plan.as_ref();
        if named.is_none_or(|named| (named.file, named.content) != (plan.report.file, plan.report.content)) {
            return self.violated(2, format!("apply {} names another plan than its run", attempt.id));
        }
        if let Some(why) = self.stands_against(&run) {
            return self
                .violated(4, format!("apply {} of {} was issued although {why}", attempt.id, run.name));
        }
        if plan.report.has_changes && !self.is_allowed(&run, plan.report.content) {
            let what = format!("apply {} of {} was issued, and nobody approved it", attempt.id, run.name);
            return self.violated(3, what);
        }
        if let Some(what) = self.lacks(&run, Doubt::ForThem) {
            self.violated(3, format!("apply {} of {} was issued: {what}", attempt.id, run.name));
        }
    }

    fn stands_against(&self, run: &Run) -> Option<&'static str> {
        let definition = self.oracle.definitions.get(&run.stack)?;
        let rejected = |decision: &Decision| decision.verdict == DecisionVerdict::Reject;
        if definition.spec.suspend {
            return Some("the manifest suspends it");
        }
        if self.oracle.stacks.get(&run.stack).is_some_and(|stack| stack.suspended.is_some()) {
            return Some("a person suspended it");
        }
        run.decisions.iter().any(rejected).then_some("it was rejected")
    }

    /// Whether somebody may have allowed it: a person who meant this content, or the manifest as it stands.
    fn is_allowed(&self, run: &Run, content: ContentDigest) -> bool {
        let by_person = run.decisions.iter().any(|decision| {
            decision.verdict == DecisionVerdict::Approve
                && decision.content == content
                && self.oracle.meant(&decision.by.who, run, content)
        });
        if by_person {
            return true;
        }
        if let Some(expected) = run.expects {
            let known = |reason: &Reason| matches!(reason, Reason::DriftApproved | Reason::Remediation);
            return expected == content && run.because.iter().any(known);
        }
        let asked = run.kind == RunKind::Destroy && run.asked_by.is_some();
        let Some(definition) = self.oracle.definitions.get(&run.stack) else { return false };
        match &definition.spec.approve_plan {
            ApprovePlan::Auto => !asked,
            ApprovePlan::Manual | ApprovePlan::Disable => definition.spec.force && !asked,
            ApprovePlan::Plan { id, .. } => run.plan.as_ref().is_some_and(|plan| plan.report.plan_id == *id),
        }
    }
}

fn rank(key: &Key) -> u8 {
    match (key.partition.starts_with("attempt#"), key.sort.as_str()) {
        (true, _) => 2,
        (_, "stack") => 3,
        (_, "definition" | "observation") => 0,
        _ => 1,
    }
}

fn parse<T: serde::de::DeserializeOwned>(body: &Value) -> Option<T> {
    T::deserialize(body).ok()
}

fn is_same(one: &Decision, other: &Decision) -> bool {
    (one.verdict, one.content, &one.by.who) == (other.verdict, other.content, &other.by.who)
}

/// Whether every decision still stands; a person's second of the same kind takes the first one's place.
fn keeps_decisions(before: &Run, after: &Run) -> bool {
    before.decisions.iter().all(|old| after.decisions.iter().any(|new| is_same(old, new)))
}

fn counted_twice(decisions: &[Decision]) -> Option<&Decision> {
    decisions.iter().enumerate().find_map(|(number, one)| {
        decisions.iter().skip(number + 1).any(|other| is_same(one, other)).then_some(one)
    })
}
