//! The working copy of a decision, and the few steps that all of its parts share.

use std::collections::BTreeMap;

use super::dependencies::Dependency;
use super::{Decision, Former, Holder, Moment, Records, TaskSeen};
use crate::attempt::{Attempt, AttemptState};
use crate::effect::{Effect, PendingEffect};
use crate::event::{Event, EventKind};
use crate::freeze::Freeze;
use crate::id::RunId;
use crate::people::Team;
use crate::request::{Ask, Outcome, Request, Signed};
use crate::run::{AttemptEnd, Run, RunState, Waiting};
use crate::source::{Definition, Observation};
use crate::stack::Stack;
use crate::state_address::SameState;
use crate::time::Timestamp;
use crate::trouble::{Trouble, TroubleNotice};

/// Records as they change while a decision is made.
pub(super) struct Draft {
    pub(super) now: Timestamp,
    pub(super) fresh: Option<RunId>,
    pub(super) stack: Stack,
    pub(super) definition: Option<Definition>,
    pub(super) observation: Option<Observation>,
    pub(super) run: Option<Run>,
    pub(super) drifted: Option<Run>,
    pub(super) named: Option<Run>,
    pub(super) ended: Vec<Run>,
    pub(super) attempt: Option<Attempt>,
    pub(super) changed_attempts: Vec<Attempt>,
    pub(super) task: Option<TaskSeen>,
    pub(super) request: Option<Request>,
    pub(super) values: BTreeMap<String, String>,
    pub(super) hosts: BTreeMap<String, String>,
    pub(super) dependencies: Vec<Dependency>,
    pub(super) same_state: Option<SameState>,
    pub(super) holder: Option<Holder>,
    pub(super) formers: Vec<Former>,
    pub(super) taken_over: Option<Stack>,
    pub(super) trouble: Option<Trouble>,
    pub(super) notice: Option<TroubleNotice>,
    pub(super) paused: Option<Signed>,
    pub(super) teams: Vec<Team>,
    pub(super) freezes: Vec<Freeze>,
    pub(super) report: Vec<String>,
    pub(super) before: (Stack, Option<Run>, Option<Attempt>),
}

impl Draft {
    pub(super) fn new(records: Records, moment: Moment) -> Self {
        let before = (records.stack.clone(), records.run.clone(), records.attempt.clone());
        let mut stack = records.stack;
        if let Some(definition) = &records.definition {
            stack.name = definition.name.clone();
        }
        Self {
            now: moment.now,
            fresh: Some(moment.run),
            stack,
            definition: records.definition,
            observation: records.observation,
            run: records.run,
            drifted: records.drifted,
            named: records.named,
            ended: Vec::new(),
            attempt: records.attempt,
            changed_attempts: Vec::new(),
            task: records.task,
            request: records.request,
            values: records.values,
            hosts: records.hosts,
            dependencies: records.dependencies,
            same_state: records.same_state,
            holder: records.holder,
            formers: records.formers,
            taken_over: None,
            trouble: records.trouble,
            notice: None,
            paused: records.paused,
            teams: records.teams,
            freezes: records.freezes,
            report: Vec::new(),
            before,
        }
    }

    /// Says in the report what happened, or why nothing did.
    pub(super) fn note(&mut self, what: impl Into<String>) {
        self.report.push(what.into());
    }

    /// Settles the request.
    pub(super) fn answer(&mut self, outcome: Outcome) {
        if let Some(request) = &mut self.request {
            request.outcome = outcome;
        }
    }

    /// Names the run that the request came to, once all that follows from it was decided: the one that was made of it,
    /// or none while that is still to be made.
    pub(super) fn name_run_of_request(&mut self) {
        let made = self.stack.latest.filter(|latest| self.before.0.latest != Some(*latest));
        let Some(request) = &mut self.request else { return };
        // What these concern is known before anything follows from it.
        if matches!(
            request.ask,
            Ask::Cancel { .. }
                | Ask::Reject
                | Ask::Suspend
                | Ask::Adopt(_)
                | Ask::IgnoreDrift { .. }
                | Ask::AcknowledgeDrift
        ) {
            return;
        }
        let waits = self.stack.asked.as_ref().is_some_and(|asked| asked.by == request.by);
        if let Outcome::Done { run, run_to_come, .. } = &mut request.outcome {
            *run = if waits { None } else { made.or(*run) };
            *run_to_come = waits;
        }
    }

    /// Adds an effect to the outbox; the same one again changes nothing.
    pub(super) fn effect(&mut self, effect: Effect) {
        let key = effect.key();
        if self.stack.outbox.iter().any(|pending| pending.key == key) {
            return;
        }
        let (since, due) = (self.now, self.now);
        let pending = PendingEffect { key, effect, since, tries: 0, due, trouble: None, given_up: false };
        self.stack.outbox.push(pending);
    }

    /// Publishes an event about the current run, or about the stack alone.
    pub(super) fn publish(&mut self, kind: EventKind, message: impl Into<String>) {
        self.publish_about(self.run.clone(), kind, message);
    }

    /// Publishes an event about a run, or about the stack alone.
    pub(super) fn publish_about(&mut self, run: Option<Run>, kind: EventKind, message: impl Into<String>) {
        self.stack.events += 1;
        let event = Event {
            stack: self.stack.id,
            name: self.stack.name.clone(),
            number: self.stack.events,
            kind,
            run: run.as_ref().map(|run| run.id),
            revision: run.map(|run| run.revision),
            message: message.into(),
            at: self.now,
        };
        self.effect(Effect::Publish { event });
    }

    /// Changes the current run, if there is one.
    pub(super) fn on_run(&mut self, change: impl FnOnce(&mut Run)) {
        if let Some(run) = &mut self.run {
            change(run);
            run.updated_at = self.now;
        }
    }

    /// Ends the current run: no stack stays held by a run that has ended.
    pub(super) fn end_run(&mut self, state: RunState) {
        let Some(mut run) = self.run.take() else { return };
        self.note(format!("run {} is {state}", run.number));
        run.state = state;
        run.waits_for = Waiting::Nothing;
        run.updated_at = self.now;
        run.ended_at = Some(self.now);
        if matches!(state, RunState::Applied | RunState::Unchanged | RunState::Planned) {
            self.effect(Effect::WakeDependants { run: run.id });
        }
        self.stack.run = None;
        self.ended.push(run);
    }

    /// The attempt that is out ends: its note in the run is closed, and so is its claim unless it reported.
    pub(super) fn end_attempt(&mut self, how: impl Into<String>) {
        let Some(mut attempt) = self.attempt.take() else { return };
        let end = AttemptEnd { at: self.now, how: how.into() };
        let id = attempt.id;
        self.on_run(|run| {
            if let Some(note) = run.attempts.iter_mut().find(|note| note.id == id) {
                note.ended = Some(end);
            }
        });
        self.stack.outbox.retain(|pending| pending.effect != Effect::StartTask { attempt: id });
        if attempt.state != AttemptState::Reported {
            attempt.state = AttemptState::Closed;
            self.changed_attempts.push(attempt);
        }
    }

    /// The decision as it is to be committed.
    pub(super) fn finish(mut self) -> Decision {
        self.stack.run = self.run.as_ref().map(|run| run.id);
        let audit = self.write_trail();
        self.stack.due = self.due();
        if let Some(settled) = self.settled() {
            self.stack.settled = settled;
        }
        self.stack.shown = self.shown();
        if self.stack != self.before.0 {
            self.stack.updated_at = self.now;
        }
        let run_changed = self.run != self.before.1;
        let attempt_changed = self.attempt.is_some() && self.attempt != self.before.2;
        let runs = self.ended.into_iter().chain(self.run.filter(|_| run_changed)).collect();
        let attempts =
            self.changed_attempts.into_iter().chain(self.attempt.filter(|_| attempt_changed)).collect();
        Decision {
            stack: self.stack,
            runs,
            attempts,
            request: self.request,
            former: self.taken_over,
            notice: self.notice,
            audit,
            report: self.report,
        }
    }
}
