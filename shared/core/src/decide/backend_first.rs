//! What is done to a backend before a plan, because somebody asked: a lock is released, a state is pushed.
//!
//! It stands in the stack's record, so it outlives every run that should have done it: until a plan that did it is
//! stored, the backend has refused it, or somebody asks for a plan without it. Doing it twice does no harm: a lock's id is
//! never given to another, and a backend takes the state that it holds already.

use super::draft::Draft;
use super::requests::{Answer, Refusal, refuse};
use crate::id::{AttemptId, RunId};
use crate::job::BeforePlan;
use crate::request::{Adoption, Signed};
use crate::run::RunKind;
use crate::source::Reason;

impl Draft {
    /// Plans without what was to be done to the backend.
    pub(super) fn replan(&mut self, by: &Signed) -> Answer {
        let answer =
            self.ask_run(by, RunKind::Tracked, Reason::Asked(format!("{} asked for a plan", by.who)))?;
        self.forget_backend_first();
        if !self.is_unsaved() {
            return Ok(answer);
        }
        Ok(format!(
            "{answer}; it disregards the state that an apply left behind and that is not in its backend: `yuba recover {}` \
             pushes that",
            self.left_by()
        ))
    }

    pub(super) fn unlock(&mut self, by: &Signed, lock: &str) -> Answer {
        self.refuse_unsaved()?;
        if let Some(holder) = &self.holder {
            return refuse(format!(
                "attempt {} of {}, which has the same state, is out and may hold the lock; cancel its run or wait for it",
                holder.attempt, holder.name
            ));
        }
        let because = Reason::Asked(format!("{} asked to release lock {lock}", by.who));
        let answer = self.ask_backend(by, because)?;
        let first = &mut self.stack.backend_first;
        first.retain(|known| !matches!(known, BeforePlan::Unlock(_)));
        first.insert(0, BeforePlan::Unlock(lock.to_owned()));
        let reported = self.named.as_ref().and_then(|run| run.failure.as_ref()?.lock.as_ref());
        let holder = match reported.filter(|held| held.id == lock) {
            Some(held) => format!(", {}; whoever that is must be at work no more", held.words(self.now)),
            None => String::new(),
        };
        Ok(format!("{answer}; it releases lock {lock} first{holder}"))
    }

    pub(super) fn recover(&mut self, by: &Signed, run: RunId) -> Answer {
        let Some(attempt) = self.recoverable(run) else {
            return refuse(format!("run {run} left no state behind that could be pushed"));
        };
        let because = Reason::Asked(format!("{} asked to push the state that was left behind", by.who));
        let made = self.ask_backend(by, because)?;
        let first = &mut self.stack.backend_first;
        first.retain(|known| matches!(known, BeforePlan::Unlock(_)));
        first.push(BeforePlan::PushState(attempt));
        Ok(format!(
            "{made}; it pushes the state that {attempt} could not save into the backend, which refuses one that is older \
             than its own or another's, and plans from there"
        ))
    }

    fn recoverable(&self, run: RunId) -> Option<AttemptId> {
        let run = self.named.as_ref().filter(|known| known.id == run)?;
        run.failure.as_ref().filter(|failure| failure.errored_state)?;
        run.attempts.last().map(|note| note.id)
    }

    /// A run that touches the backend by hand: refused while anything of the stack may still hold its lock.
    fn ask_backend(&mut self, by: &Signed, because: Reason) -> Answer {
        if let Some(attempt) = &self.attempt {
            return refuse(format!(
                "attempt {} is out and may hold the lock; cancel its run or wait for it",
                attempt.id
            ));
        }
        if self.has_vanished() {
            return Ok("the stack vanished from the manifests: the run that `yuba destroy` asks for does it"
                .to_owned());
        }
        self.ask_run(by, RunKind::Tracked, because)
    }

    /// What a run of this kind does to the backend first. One that only looks changes nothing.
    pub(super) fn backend_first_for(&self, kind: RunKind) -> Vec<BeforePlan> {
        match kind {
            RunKind::Tracked | RunKind::Destroy => self.stack.backend_first.clone(),
            RunKind::Drift | RunKind::Preview => Vec::new(),
        }
    }

    /// Whether an apply left a state behind that its backend does not hold.
    pub(super) fn is_unsaved(&self) -> bool {
        self.stack.retry.as_ref().is_some_and(|retry| retry.unsaved)
    }

    /// Whether that state is pushed before the next plan.
    pub(super) fn pushes_state(&self) -> bool {
        self.stack.backend_first.iter().any(|first| matches!(first, BeforePlan::PushState(_)))
    }

    /// Refuses what would plan from a state that lacks what the last apply made. Only `replan` says that this is meant.
    pub(super) fn refuse_unsaved(&self) -> Result<(), Refusal> {
        if !self.is_unsaved() || self.pushes_state() {
            return Ok(());
        }
        Err(Refusal(self.unsaved_sentence()))
    }

    /// That an apply left a state behind, and what can be done.
    pub(super) fn unsaved_sentence(&self) -> String {
        format!(
            "an apply left a state behind that is not in its backend: `yuba recover {}` pushes it first, `yuba replan` \
             plans without it",
            self.left_by()
        )
    }

    /// The run whose apply left a state behind, as it is typed.
    fn left_by(&self) -> String {
        let left_by = self.stack.retry.as_ref().and_then(|retry| retry.left_by);
        left_by.map_or_else(|| "RUN".to_owned(), |run| run.to_string())
    }

    /// A plan is stored: what its run was to do to the backend before is done.
    pub(super) fn backend_is_mended(&mut self) {
        let Some(run) = &mut self.run else { return };
        let done = std::mem::take(&mut run.backend_first);
        self.stack.backend_first.retain(|first| !done.contains(first));
    }

    /// The backend refused the first of what it was to have done to it. Says whether only a person can go on.
    pub(super) fn backend_refused(&mut self) -> bool {
        let refused = self.run.as_ref().and_then(|run| run.backend_first.first().cloned());
        self.stack.backend_first.retain(|first| Some(first) != refused.as_ref());
        let imported = refused == Some(BeforePlan::ImportState);
        if imported {
            self.stack.adopted = None;
        }
        imported
    }

    /// What was to be done to the backend is not wanted any more.
    pub(super) fn forget_backend_first(&mut self) {
        let first = std::mem::take(&mut self.stack.backend_first);
        if first.contains(&BeforePlan::ImportState) && self.stack.adopted == Some(Adoption::Imported) {
            self.stack.adopted = None;
        }
    }
}
