//! The plan phase: mend the backend if asked, lock, compare, store, report.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use yuba_core::attempt::AttemptReport;
use yuba_core::id::StackId;
use yuba_core::job::{BeforePlan, attempt_prefix, object};
use yuba_core::plan::summary::{PlanCounts, PlanReport};
use yuba_core::run::{Failure, FailureClass, LockHeld, RunKind};
use yuba_core::spec::{EngineTool, StackSpec};
use yuba_ports::{Blobs, PutMode};

use super::{Attempt, Ended, failed};
use crate::history::Sign;
use crate::lane::Lane;
use crate::world::cloud::{Lock, PlanFile, Resources, difference};
use crate::world::git::{Files, closure};

impl Attempt {
    /// Plans, stores the plan, and says what to report.
    pub(super) async fn plan(&mut self) -> AttemptReport {
        self.work(500, 30_000).await;
        if self.stop.is_some() {
            return self.stopped(false);
        }
        if let Err(report) = self.mend_backend().await {
            return *report;
        }
        if self.job.kind != RunKind::Drift
            && let Err(held) = self.lock()
        {
            return locked(&held);
        }
        self.work(1_000, 90_000).await;
        if self.world.state().plans_fail() {
            self.unlock();
            return failed(FailureClass::Transient, "the registry does not answer");
        }
        let (file, state_was_empty) = self.compare();
        self.unlock();
        if self.stop.is_some() {
            return self.stopped(false);
        }
        if self.store(&file).await.is_err() {
            return failed(FailureClass::Transient, "the plan could not be stored");
        }
        AttemptReport::Planned(self.report(&file, state_was_empty))
    }

    async fn mend_backend(&mut self) -> Result<(), Ended> {
        for first in self.job.backend_first.clone() {
            match first {
                BeforePlan::Unlock(id) => self.force_unlock(&id)?,
                BeforePlan::PushState(from) => {
                    let key = format!("{}{}", attempt_prefix(self.job.stack, from), object::ERRORED_STATE);
                    self.push(&key).await?;
                }
                BeforePlan::ImportState => {
                    self.push(&yuba_core::job::state_import_object(self.job.stack)).await?;
                }
            }
        }
        Ok(())
    }

    fn force_unlock(&mut self, id: &str) -> Result<(), Ended> {
        let place = self.place();
        self.begin_acting();
        let mut state = self.world.state();
        let held = state.cloud.place(&place).lock.clone().filter(|lock| lock.id == id);
        if let Some(lock) = &held
            && state.alive.contains(&lock.process)
        {
            let what = format!("{} released a lock whose holder {} lives", self.id, lock.attempt);
            state.violated(7, what);
        }
        state.note_as(Sign::to(Lane::Cloud), || format!("releases lock {id}"));
        let found = held.is_some();
        if found {
            state.cloud.place(&place).lock = None;
        }
        drop(state);
        self.end_acting();
        if found { Ok(()) } else { Err(Box::new(failed(FailureClass::Refused, "there is no such lock"))) }
    }

    async fn push(&mut self, key: &str) -> Result<(), Ended> {
        let Ok(Some(bytes)) = self.world.get(key).await else {
            return Err(Box::new(failed(FailureClass::Refused, format!("there is no {key} to push"))));
        };
        let pushed: Pushed = serde_json::from_slice(&bytes)
            .map_err(|error| Box::new(failed(FailureClass::Configuration, error.to_string())))?;
        let address = self.place();
        self.begin_acting();
        let mut state = self.world.state();
        let place = state.cloud.place(&address);
        let held = place.serial == pushed.serial && place.state == pushed.resources;
        let fits = place.lineage.is_empty()
            || place.lineage == pushed.lineage && (held || place.serial < pushed.serial);
        if fits {
            (place.lineage, place.serial, place.state) = (pushed.lineage, pushed.serial, pushed.resources);
        }
        state.note_as(Sign::to(Lane::Cloud), || {
            format!("pushes {key}: {}", if fits { "taken" } else { "refused as older" })
        });
        drop(state);
        self.end_acting();
        if fits { Ok(()) } else { Err(Box::new(failed(FailureClass::Refused, "the state is older"))) }
    }

    /// Compares reality with what is wanted. Says too whether the state was empty.
    fn compare(&self) -> (PlanFile, bool) {
        let wanted = self.wanted();
        let address = self.place();
        let mut state = self.world.state();
        let nonce = state.number();
        let place = state.cloud.place(&address);
        let inputs = serde_json::json!([self.job.spec.vars, self.job.spec.workspace]).to_string();
        let file = PlanFile {
            lineage: place.lineage.clone(),
            serial: place.serial,
            nonce,
            inputs,
            changes: difference(&place.real, &wanted),
            place: address,
        };
        (file, place.state.is_empty())
    }

    /// What code and settings want, by address.
    fn wanted(&self) -> Resources {
        if self.job.kind == RunKind::Destroy {
            return BTreeMap::new();
        }
        let files = self.world.state().git.files(&self.job.tree).unwrap_or_default();
        let mut wanted = wanted(&files, &self.job.spec);
        for value in &self.values {
            wanted.insert(format!("var.{}", value.name), digest(&value.value));
        }
        wanted
    }

    async fn store(&self, file: &PlanFile) -> Result<(), yuba_ports::PortError> {
        let prefix = self.job.prefix();
        let key = |name: &str| format!("{prefix}{name}");
        self.world.put(&key(object::PLAN), &file.bytes(), PutMode::Replace).await?;
        self.world.put(&key(object::SUMMARY), b"{}", PutMode::Replace).await?;
        Ok(())
    }

    fn report(&self, file: &PlanFile, state_was_empty: bool) -> PlanReport {
        let many = |of: fn(&crate::world::cloud::Change) -> bool| {
            u32::try_from(file.changes.iter().filter(|change| of(change)).count()).unwrap_or(u32::MAX)
        };
        let counts = PlanCounts {
            create: many(|change| change.before.is_none()),
            delete: many(|change| change.after.is_none()),
            update: many(|change| change.before.is_some() && change.after.is_some()),
            ..PlanCounts::default()
        };
        let destroys = self.job.kind == RunKind::Drift && counts.delete > 0;
        PlanReport {
            plan_id: self.job.revision.plan_id(),
            content: file.content(),
            file: PlanFile::file_digest(&file.bytes()),
            counts,
            has_changes: !file.changes.is_empty(),
            applyable: true,
            state_was_empty,
            backend_named: self.job.spec.backend.is_some(),
            engine: EngineTool::Tofu,
            engine_version: "1.9.0".to_owned(),
            notices: Vec::new(),
            drifted: self.job.kind == RunKind::Drift && !file.changes.is_empty(),
            remediation_refused: destroys.then(|| "it would delete something".to_owned()),
        }
    }
}

/// A state as it is stored when it could not be saved, or is uploaded.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Pushed {
    pub(super) version: u32,
    pub(super) lineage: String,
    pub(super) serial: u64,
    pub(super) resources: Resources,
}

/// The report of an attempt that found the state locked.
pub(super) fn locked(held: &Lock) -> AttemptReport {
    let lock = LockHeld {
        id: held.id.clone(),
        who: held.attempt.to_string(),
        operation: "OperationTypeApply".to_owned(),
        created: String::new(),
    };
    AttemptReport::Failed(Failure {
        class: FailureClass::Locked,
        message: "the state is locked".to_owned(),
        detail: String::new(),
        lock: Some(lock),
        errored_state: false,
    })
}

/// What code and the settings of a manifest want, by address; without what is read from secrets.
pub(crate) fn wanted(files: &Files, spec: &StackSpec) -> Resources {
    let code = closure(files, &spec.path);
    let code = code.iter().map(|(path, text)| (format!("file.{path}"), digest(text)));
    let variables = spec.vars.iter();
    let variables =
        variables.map(|variable| (format!("var.{}", variable.name), digest(&variable.value.to_string())));
    code.chain(variables).collect()
}

fn digest(text: &str) -> String {
    hex::encode(Sha256::digest(text)).chars().take(8).collect()
}

/// Where the state of a stack lies.
pub(crate) fn place(kept_as: StackId, spec: &StackSpec) -> String {
    match &spec.backend {
        Some(backend) => format!("{backend} {}", spec.workspace),
        None => format!("local {kept_as}"),
    }
}
