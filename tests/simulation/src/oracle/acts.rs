//! What must hold of tasks as they act, and of events as they are published.

use yuba_core::attempt::{Attempt, AttemptState};
use yuba_core::event::{Event, EventKind};
use yuba_core::id::{AttemptId, Phase};
use yuba_core::job::Job;
use yuba_core::message::{AttemptNews, Cause, Message, Wake};

use crate::world::State;
use crate::world::cloud::PlanFile;
use crate::world::tasks::Launched;

impl State {
    /// A claim was written.
    pub(super) fn was_claimed(&mut self, attempt: &Attempt) {
        if attempt.id.phase == Phase::Apply && self.oracle.is_paused {
            self.violated(4, format!("apply {} was claimed after applies were paused", attempt.id));
        }
    }

    /// The claim of an attempt was closed: nothing of it may run any more.
    pub(super) fn was_closed(&mut self, attempt: &Attempt) {
        if matches!(self.launched.get(&attempt.id), Some(Launched::Running(_))) {
            self.violated(1, format!("the claim of {} was closed while its task runs", attempt.id));
        }
    }

    /// A task is asked for: its attempt must have been committed.
    pub(crate) fn is_launched(&mut self, attempt: AttemptId) {
        if self.oracle.attempt(attempt).is_none() {
            self.violated(1, format!("the task of {attempt} is started before the attempt is committed"));
        }
    }

    /// An attempt begins to change something, or goes on.
    pub(crate) fn act(&mut self, place: &str, who: (AttemptId, u64)) {
        let alive = self.alive.clone();
        if let Some(other) = self.cloud.begin(place, who, &alive) {
            self.violated(1, format!("{} acts while {other} acts on the same state", who.0));
        }
        let state = self.oracle.attempt(who.0).map(|attempt| attempt.state);
        if state != Some(AttemptState::Claimed) {
            self.violated(1, format!("{} acts, and is {state:?}", who.0));
        }
    }

    /// An apply uses these bytes.
    pub(crate) fn applies(&mut self, job: &Job, bytes: &[u8]) {
        let run = self.oracle.runs.get(&job.attempt.run);
        let Some(plan) = run.and_then(|run| run.plan.as_ref()) else {
            return self.violated(2, format!("{} applies a plan that no run holds", job.attempt));
        };
        let content = serde_json::from_slice::<PlanFile>(bytes).ok().map(|file| file.content());
        let is_stored = plan.report.file == PlanFile::file_digest(bytes);
        if !is_stored || content != Some(plan.report.content) {
            self.violated(2, format!("{} applies other bytes than those that were approved", job.attempt));
        }
    }

    /// The process of a task began.
    pub(crate) fn task_began(&mut self, attempt: AttemptId, process: u64) {
        self.launched.insert(attempt, Launched::Running(Some(process)));
    }

    /// A task has stopped; whoever starts tasks tells of it, unless that is lost.
    pub(crate) fn task_ended(&mut self, attempt: AttemptId, how: &str) {
        self.kill(attempt, how);
        let Some(stack) = self.oracle.attempt(attempt).map(|attempt| attempt.stack) else { return };
        let rate = self.rates.network;
        if !self.goes_wrong(rate) {
            let cause = Cause::Attempt { attempt, what: AttemptNews::Stopped };
            self.take_in(&Message::new(Wake::Stack(stack), cause));
        }
    }

    /// An event goes out.
    pub(crate) fn published(&mut self, event: &Event) {
        let committed = self.oracle.stacks.get(&event.stack).map_or(0, |stack| stack.events);
        if event.number > committed {
            return self.violated(
                6,
                format!("event {} of {} is published before it is committed", event.number, event.name),
            );
        }
        let known = self.oracle.events.insert((event.stack, event.number), event.clone());
        if known.is_none()
            && event.kind == EventKind::RetriesPaused
            && let Some(what) = self.oracle.troubles.told(event)
        {
            return self.violated(6, what);
        }
        if known.is_some_and(|known| known != *event) {
            self.violated(6, format!("two events of {} have the number {}", event.name, event.number));
        }
    }
}
