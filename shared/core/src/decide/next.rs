//! Which run a stack needs next, when none is under way.

use std::collections::BTreeSet;

use super::draft::Draft;
use crate::event::EventKind;
use crate::people::Identity;
use crate::request::Signed;
use crate::run::{Failure, FailureClass, Run, RunKind, RunState, Waiting};
use crate::source::Reason;
use crate::spec::{ApprovePlan, DriftMode};
use crate::stack::{AskedRun, Wanted};
use crate::trouble::Trouble;

/// The run that is to be made.
pub(super) struct NewRun {
    kind: RunKind,
    base: Base,
    because: Vec<Reason>,
    asked: Option<AskedRun>,
}

/// Which revision and settings a run is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// What Git and manifests want now.
    Wanted,
    /// What was last applied: drift is checked and put right under it, so that no revision that was rejected since is
    /// applied by another door.
    Applied,
}

impl Draft {
    /// Makes the next run, if one is needed.
    pub(super) fn begin_next(&mut self) -> bool {
        match self.next_run() {
            Ok(new) => self.make(&new),
            Err(why) => {
                self.note(format!("no run: {why}"));
                false
            }
        }
    }

    /// The run that is needed, or why none is.
    fn next_run(&self) -> Result<NewRun, String> {
        let definition = self.definition.as_ref().ok_or("no manifest names the stack")?;
        let asked = self.stack.asked.as_ref();
        if definition.vanished.is_some() && asked.is_none_or(|asked| asked.kind != RunKind::Destroy) {
            return Err("the stack vanished from the manifests".to_owned());
        }
        if definition.spec.suspend {
            return Err("the manifest suspends the stack".to_owned());
        }
        if let Some(by) = &self.stack.suspended {
            return Err(format!("{} suspended the stack", by.who));
        }
        if let Some(asked) = asked {
            return self.asked_run(asked);
        }
        if self.is_unsaved() && !self.pushes_state() {
            return Err(self.unsaved_sentence());
        }
        let wanted = self.wanted().ok_or("its source was not looked at yet")?;
        self.changed_run(&wanted).or_else(|| self.retried_run()).unwrap_or_else(|| self.scheduled_run())
    }

    /// The run that somebody asked for.
    fn asked_run(&self, asked: &AskedRun) -> Result<NewRun, String> {
        let on_applied = asked.kind == RunKind::Drift || asked.expects.is_some();
        let base = if on_applied && self.stack.applied.is_some() { Base::Applied } else { Base::Wanted };
        if base == Base::Wanted && self.observation.is_none() {
            return Err("its source was not looked at yet".to_owned());
        }
        Ok(NewRun {
            kind: asked.kind,
            base,
            because: vec![asked.because.clone()],
            asked: Some(asked.clone()),
        })
    }

    /// The run that a change in Git, manifest or values asks for.
    fn changed_run(&self, wanted: &Wanted) -> Option<Result<NewRun, String>> {
        if self.stack.planned.as_ref() == Some(wanted) {
            return None;
        }
        let because = self.what_changed(wanted);
        Some(Ok(NewRun { kind: self.kind_for_wanted(), base: Base::Wanted, because, asked: None }))
    }

    /// Another try of what failed, once it is due.
    fn retried_run(&self) -> Option<Result<NewRun, String>> {
        let retry = self.stack.retry.as_ref()?;
        match retry.due {
            Some(_) if self.trouble.is_some_and(Trouble::holds_back) => {
                Some(Err("many stacks have the same error; its retry waits behind one of them".to_owned()))
            }
            Some(due) if due <= self.now => {
                let base = if retry.kind == RunKind::Drift { self.drift_base() } else { Base::Wanted };
                Some(Ok(NewRun { kind: retry.kind, base, because: vec![Reason::Retry], asked: None }))
            }
            Some(due) => Some(Err(format!("the next try is due at {due}"))),
            None => {
                let because = self.changed_hosts();
                let base = if retry.kind == RunKind::Drift { self.drift_base() } else { Base::Wanted };
                (!because.is_empty()).then_some(Ok(NewRun { kind: retry.kind, base, because, asked: None }))
            }
        }
    }

    /// The secrets that open hosts and are not what they were when this failed. A stack that stands well is not planned
    /// for that: they change no plan.
    fn changed_hosts(&self) -> Vec<Reason> {
        let (seen, now) = (&self.stack.hosts_seen, &self.hosts);
        let names: BTreeSet<&String> = seen.keys().chain(now.keys()).collect();
        let changed = names.into_iter().filter(|name| seen.get(*name) != now.get(*name));
        changed.cloned().map(Reason::Values).collect()
    }

    /// What the interval asks for.
    fn scheduled_run(&self) -> Result<NewRun, String> {
        let spec = &self.definition.as_ref().ok_or("no manifest names the stack")?.spec;
        let due = self.next_check().ok_or("nothing changed, and drift is not looked for")?;
        if due > self.now {
            return Err(format!("nothing changed; the next check is due at {due}"));
        }
        if spec.force && spec.approve_plan != ApprovePlan::Disable {
            let (kind, because) = (self.kind_for_wanted(), vec![Reason::Forced]);
            return Ok(NewRun { kind, base: Base::Wanted, because, asked: None });
        }
        let kind = if self.stack.applied.is_some() { RunKind::Drift } else { self.kind_for_wanted() };
        Ok(NewRun { kind, base: self.drift_base(), because: vec![Reason::DriftCheck], asked: None })
    }

    /// When reality is compared with Git next; `None` where it is not.
    pub(super) fn next_check(&self) -> Option<crate::time::Timestamp> {
        let spec = &self.definition.as_ref()?.spec;
        let checked = self.stack.checked_at?;
        let destroyed = self.stack.applied.as_ref().is_some_and(|applied| applied.destroyed);
        let forced = spec.force && spec.approve_plan != ApprovePlan::Disable;
        let repeats =
            self.stack.applied.is_some() || spec.approve_plan == ApprovePlan::Disable || spec.plan_only;
        let only_input_mends = self.stack.retry.as_ref().is_some_and(|retry| retry.due.is_none());
        if destroyed || only_input_mends || !(forced || repeats && spec.drift.mode != DriftMode::Off) {
            return None;
        }
        Some(checked + crate::schedule::jittered(spec.interval, self.stack.id))
    }

    fn drift_base(&self) -> Base {
        if self.stack.applied.is_some() { Base::Applied } else { Base::Wanted }
    }

    fn kind_for_wanted(&self) -> RunKind {
        match &self.definition {
            Some(definition) if definition.spec.approve_plan == ApprovePlan::Disable => RunKind::Drift,
            Some(definition) if definition.spec.destroy => RunKind::Destroy,
            _ => RunKind::Tracked,
        }
    }

    /// Why what is wanted now is not what was last planned.
    pub(super) fn what_changed(&self, wanted: &Wanted) -> Vec<Reason> {
        let Some(planned) = &self.stack.planned else { return vec![Reason::First] };
        let mut reasons = Vec::new();
        if let Some(observation) = &self.observation
            && planned.closure != wanted.closure
        {
            reasons.extend(observation.changed.iter().cloned());
        }
        if planned.settings != wanted.settings {
            reasons.push(Reason::Settings);
        }
        if planned.problems != wanted.problems {
            reasons.push(Reason::Stale("what stood against planning it changed".to_owned()));
        }
        let names = planned
            .values
            .keys()
            .chain(wanted.values.keys().filter(|name| !planned.values.contains_key(*name)));
        let changed = names.filter(|name| planned.values.get(*name) != wanted.values.get(*name));
        reasons.extend(changed.map(|name| Reason::Values(name.clone())));
        reasons
    }

    /// Writes the new run down. What stands against planning it at all ends it at once, so that people see why.
    fn make(&mut self, new: &NewRun) -> bool {
        let Some(run) = self.run_of(new) else { return false };
        self.stack.runs += 1;
        self.stack.latest = Some(run.id);
        self.stack.asked = None;
        self.stack.hosts_seen.clone_from(&self.hosts);
        if new.base == Base::Wanted {
            self.stack.planned = Some(run.wanted.clone());
        }
        self.note(format!("run {} is queued ({})", run.number, run.kind));
        let is_quiet = run.kind == RunKind::Drift;
        self.run = Some(run);
        if !is_quiet {
            self.publish(EventKind::RunQueued, "A run was queued.");
        }
        let problems = self.observation.as_ref().map(|seen| seen.problems.clone()).unwrap_or_default();
        if new.base == Base::Wanted && !problems.is_empty() {
            self.fail(Failure {
                class: FailureClass::Configuration,
                message: problems.join("; "),
                detail: String::new(),
                lock: None,
                errored_state: false,
            });
        }
        true
    }

    /// Who brought what a run would apply. A run on what was last applied brings nothing.
    fn authors(&self, base: Base) -> BTreeSet<Identity> {
        let Some(seen) = self.observation.as_ref().filter(|_| base == Base::Wanted) else {
            return BTreeSet::new();
        };
        let applied = self.stack.applied.as_ref().filter(|applied| applied.spec.source == seen.source);
        seen.authors_since(applied.map_or(0, |applied| applied.observation))
    }

    fn run_of(&mut self, new: &NewRun) -> Option<Run> {
        let authors = self.authors(new.base);
        let (revision, tree, number, commit, spec, wanted) = match new.base {
            Base::Wanted => {
                let (seen, definition) = (self.observation.as_ref()?, self.definition.as_ref()?);
                let (revision, tree, commit) =
                    (seen.revision.clone(), seen.tree.clone(), seen.commit.clone());
                (revision, tree, seen.number, commit, definition.spec.clone(), self.wanted()?)
            }
            Base::Applied => {
                let applied = self.stack.applied.as_ref()?;
                let wanted = Wanted { values: self.values.clone(), ..applied.wanted.clone() };
                let (revision, tree, commit) =
                    (applied.revision.clone(), applied.tree.clone(), applied.commit.clone());
                (revision, tree, applied.observation, commit, applied.spec.clone(), wanted)
            }
        };
        let asked = new.asked.as_ref();
        Some(Run {
            id: self.fresh.take()?,
            stack: self.stack.id,
            name: self.stack.name.clone(),
            number: self.stack.runs + 1,
            kind: new.kind,
            state: RunState::Queued,
            revision,
            tree,
            observation: number,
            commit,
            authors,
            spec,
            wanted,
            because: new.because.clone(),
            asked_by: asked.map(|asked| asked.by.clone()).filter(|by: &Signed| by.from != "yuba"),
            attempts: Vec::new(),
            plan: None,
            decisions: Vec::new(),
            expects: asked.and_then(|asked| asked.expects),
            backend_first: self.backend_first_for(new.kind),
            cancelled_by: None,
            failure: None,
            waits_for: Waiting::Nothing,
            created_at: self.now,
            updated_at: self.now,
            ended_at: None,
        })
    }
}
