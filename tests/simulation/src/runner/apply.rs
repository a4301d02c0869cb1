//! The apply phase: the very plan that was stored, change by change, and the state as it has become.

use yuba_core::attempt::AttemptReport;
use yuba_core::job::{attempt_prefix, object};
use yuba_core::run::FailureClass;
use yuba_ports::{Blobs, PutMode};

use super::plan::{Pushed, locked, place};
use super::{Attempt, Ended, failed};
use crate::history::{Mark, Sign};
use crate::lane::Lane;
use crate::world::cloud::{Lock, PlanFile};

impl Attempt {
    /// Applies the stored plan and says what to report.
    pub(super) async fn apply(&mut self) -> AttemptReport {
        self.work(500, 30_000).await;
        if self.stop.is_some() {
            return self.stopped(true);
        }
        let file = match self.stored_plan().await {
            Ok(file) => file,
            Err(report) => return *report,
        };
        if let Err(held) = self.lock() {
            return locked(&held);
        }
        if let Err(report) = self.check_serial(&file) {
            self.unlock();
            return *report;
        }
        self.begin_acting();
        let ended = self.make_changes(&file).await;
        let report = self.save(&file, ended).await;
        self.end_acting();
        self.unlock();
        report
    }

    async fn stored_plan(&self) -> Result<PlanFile, Ended> {
        let stale = |why: &str| Box::new(failed(FailureClass::StalePlan, why));
        let plan = self.job.plan.as_ref().ok_or_else(|| stale("the job names no plan"))?;
        let key = format!("{}{}", attempt_prefix(self.job.stack, plan.attempt), object::PLAN);
        let bytes = match self.world.get(&key).await {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Err(stale("the plan is gone")),
            Err(error) => return Err(Box::new(failed(FailureClass::Transient, error.what))),
        };
        let ignores = self.world.state().mutation == Some(crate::mutation::Mutation::ApplyAnyFile);
        if PlanFile::file_digest(&bytes) != plan.file && !ignores {
            return Err(stale("the stored plan file is not the one that was approved"));
        }
        self.world.state().applies(&self.job, &bytes);
        serde_json::from_slice(&bytes).map_err(|error| stale(&error.to_string()))
    }

    fn check_serial(&self, file: &PlanFile) -> Result<(), Ended> {
        let mut state = self.world.state();
        let nonce = state.number();
        let place = state.cloud.place(&file.place);
        if (place.serial, &place.lineage) != (file.serial, &file.lineage) {
            return Err(Box::new(failed(FailureClass::StalePlan, "the state moved on under the plan")));
        }
        if place.lineage.is_empty() {
            place.lineage = format!("lineage-{nonce}");
        }
        Ok(())
    }

    async fn make_changes(&mut self, file: &PlanFile) -> Result<(), Ended> {
        for change in &file.changes {
            self.work(500, 40_000).await;
            if self.stop.is_some() {
                return Err(Box::new(self.stopped(true)));
            }
            let mut state = self.world.state();
            let rate = state.rates.cloud;
            if state.goes_wrong(rate / 2) {
                let what = format!("{}: the cloud refuses", change.address);
                state.note_as(Sign::to(Lane::Cloud).marked(Mark::Fault), || what.clone());
                return Err(Box::new(failed(FailureClass::Transient, what)));
            }
            let who = (self.id, self.process);
            state.act(&file.place, who);
            state.note_as(Sign::to(Lane::Cloud), || format!("changes {}", change.address));
            state.cloud.place(&file.place).change(change);
        }
        Ok(())
    }

    async fn save(&mut self, file: &PlanFile, ended: Result<(), Ended>) -> AttemptReport {
        let prefix = self.job.prefix();
        let (is_lost, resources) = {
            let mut state = self.world.state();
            let rate = state.rates.cloud;
            let is_lost = state.goes_wrong(rate / 4);
            let place = state.cloud.place(&file.place);
            (is_lost, place.real.clone())
        };
        if !is_lost {
            self.world.state().cloud.place(&file.place).save(resources);
            let stored =
                self.world.put(&format!("{prefix}{}", object::OUTPUTS), OUTPUTS, PutMode::Replace).await;
            return match (ended, stored) {
                (Err(report), _) => *report,
                (Ok(()), Ok(_)) => AttemptReport::Applied {
                    outputs: vec!["id".to_owned()],
                    resources: 1,
                    notices: Vec::new(),
                },
                (Ok(()), Err(error)) => failed(FailureClass::Transient, error.what),
            };
        }
        let (lineage, serial) = {
            let mut state = self.world.state();
            let place = state.cloud.place(&file.place);
            (place.lineage.clone(), place.serial + 1)
        };
        let left = Pushed { version: 4, lineage, serial, resources };
        let bytes = serde_json::to_vec(&left).unwrap_or_default();
        let key = format!("{prefix}{}", object::ERRORED_STATE);
        let stored = self.world.put(&key, &bytes, PutMode::Replace).await.is_ok();
        let mut report = failed(FailureClass::Transient, "the state could not be saved");
        if let AttemptReport::Failed(failure) = &mut report {
            failure.errored_state = stored;
        }
        report
    }
}

/// What `output -json` says.
const OUTPUTS: &[u8] = br#"{"id":{"value":"net-1","type":"string","sensitive":false}}"#;

impl Attempt {
    /// Where the stack's state lies.
    pub(super) fn place(&self) -> String {
        place(self.job.state_id(), &self.job.spec)
    }

    pub(super) fn lock(&self) -> Result<(), Lock> {
        let address = self.place();
        let mut state = self.world.state();
        let id = format!("lock-{}", state.number());
        let taken = state.cloud.place(&address).take_lock(id, self.id, self.process);
        state.note_as(Sign::to(Lane::Cloud), || match &taken {
            Ok(()) => format!("locks {address}"),
            Err(held) => format!("finds {address} locked by {}", held.attempt),
        });
        taken
    }

    pub(super) fn unlock(&self) {
        let address = self.place();
        let mut state = self.world.state();
        let place = state.cloud.place(&address);
        if place.lock.as_ref().is_some_and(|lock| lock.process == self.process) {
            place.lock = None;
        }
    }

    pub(super) fn begin_acting(&self) {
        self.world.state().act(&self.place(), (self.id, self.process));
    }

    pub(super) fn end_acting(&self) {
        self.world.state().cloud.end(&self.place(), (self.id, self.process));
    }
}
