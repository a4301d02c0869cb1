//! A world for the runner: the real `tasks` router over ports in memory, objects in a directory, the real engine.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use tempfile::TempDir;
use ulid::Ulid;
use yuba_core::attempt::{Attempt, AttemptReport, AttemptState, StopOrder};
use yuba_core::id::{AttemptId, Phase, RunId, StackId, StackName};
use yuba_core::job::{Job, PlanToApply, artifact_object};
use yuba_core::plan::summary::PlanReport;
use yuba_core::record::Key;
use yuba_core::run::{Failure, RunKind};
use yuba_core::spec::StackSpec;
use yuba_core::time::{Span, Timestamp};
use yuba_core::token::{TokenUse, task_token};
use yuba_ports::memory::MemoryWorld;
use yuba_ports::records::{load, put_any, update};
use yuba_runner::Processes;
use yuba_tasks::{ObjectsDirectory, TaskSettings, TasksState, router};

const COMMIT: &str = "b8e362c206e3d0cbb7ed22ced771a0056455a2fb";

/// A stack whose code lies in `code`.
pub(crate) struct World {
    pub(crate) ports: MemoryWorld,
    pub(crate) directory: TempDir,
    pub(crate) spec: Value,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) timeout: Span,
    address: String,
    stack: StackId,
}

impl World {
    /// A stack with this root module, in `stack/` of its repository.
    pub(crate) async fn new(code: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        // As root, the engine is another user, who passes here.
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o711)).unwrap();
        fs::create_dir_all(directory.path().join("code/stack")).unwrap();
        fs::write(directory.path().join("code/stack/main.tf"), code).unwrap();
        let ports = MemoryWorld::new();
        let settings = TaskSettings {
            objects: Arc::new(ObjectsDirectory(directory.path().join("objects"))),
            local_state: Some(directory.path().join("states")),
            provider_cache: Some(directory.path().join("cache")),
        };
        let state = TasksState { ports: ports.ports(), settings: Arc::new(settings) };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router(state)).await });
        let stack = StackId(Ulid::from_parts(1, 1));
        let environment = BTreeMap::from([("PATH".to_owned(), env!("PATH").to_owned())]);
        let timeout = Span::minutes(5);
        Self { ports, directory, spec: spec(), environment, timeout, address, stack }
    }

    /// A path below the world's directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Runs a plan attempt of a new run and gives its id and report.
    pub(crate) async fn plan(&mut self, kind: RunKind) -> (AttemptId, AttemptReport) {
        let attempt = AttemptId { run: new_run(), phase: Phase::Plan, number: 1 };
        self.pack();
        let report = self.attempt(self.job(attempt, kind, None)).await;
        (attempt, report)
    }

    /// A plan that is expected to be stored.
    pub(crate) async fn planned(&mut self) -> (AttemptId, PlanReport) {
        match self.plan(RunKind::Tracked).await {
            (attempt, AttemptReport::Planned(report)) => (attempt, report),
            (_, other) => panic!("not planned: {other:#?}"),
        }
    }

    /// A plan that is expected to fail.
    pub(crate) async fn fails_to_plan(&mut self) -> Failure {
        match self.plan(RunKind::Tracked).await.1 {
            AttemptReport::Failed(failure) => failure,
            other => panic!("it did not fail: {other:#?}"),
        }
    }

    /// The job that applies a stored plan.
    pub(crate) fn apply_job(&self, plan: AttemptId, report: &PlanReport) -> Job {
        let attempt = AttemptId { phase: Phase::Apply, ..plan };
        let plan = PlanToApply { attempt: plan, file: report.file, content: report.content };
        self.job(attempt, RunKind::Tracked, Some(plan))
    }

    /// Applies a stored plan.
    pub(crate) async fn apply(&self, plan: AttemptId, report: &PlanReport) -> AttemptReport {
        self.attempt(self.apply_job(plan, report)).await
    }

    /// Plans and applies.
    pub(crate) async fn applied(&mut self) -> AttemptId {
        let (plan, report) = self.planned().await;
        match self.apply(plan, &report).await {
            AttemptReport::Applied { .. } => AttemptId { phase: Phase::Apply, ..plan },
            other => panic!("not applied: {other:#?}"),
        }
    }

    /// Issues an attempt.
    pub(crate) async fn issue(&self, job: &Job) {
        let attempt = Attempt {
            id: job.attempt,
            stack: self.stack,
            job: job.clone(),
            state: AttemptState::Issued,
            issued_at: Timestamp(0),
            claimed_at: None,
            heard_at: None,
            progress: None,
            stop: None,
            report: None,
        };
        let ports = self.ports.ports();
        ports.store.commit(vec![put_any(&attempt).unwrap()]).await.unwrap();
    }

    /// Runs the task of an attempt that was issued.
    pub(crate) async fn run(&self, attempt: AttemptId) -> ExitCode {
        let key = self.ports.ports().key;
        let token = task_token(key.expose_secret().as_bytes(), TokenUse::Claim, attempt);
        let mut environment = self.environment.clone();
        for (name, value) in [
            ("YUBA_TASKS_URL", self.address.clone()),
            ("YUBA_TASK_TOKEN", token),
            ("YUBA_ATTEMPT", attempt.to_string()),
            ("YUBA_WORK", self.path("work").display().to_string()),
        ] {
            environment.insert(name.to_owned(), value);
        }
        yuba_runner::run(environment, Processes::Shared, None).await
    }

    /// Orders the attempt to stop once its first resource is done.
    pub(crate) async fn stop_once_it_has_begun(&self, attempt: AttemptId, why: &str) {
        let begun = |attempt: &Attempt| attempt.progress.as_ref().is_some_and(|progress| progress.done == 1);
        while !begun(&self.stored(attempt).await) {
            tokio::task::yield_now().await;
        }
        let order = StopOrder { at: Timestamp(1), why: why.to_owned() };
        let stop = |attempt: &mut Attempt| {
            attempt.stop = Some(order.clone());
            true
        };
        update(&*self.ports.ports().store, &Key::attempt(attempt), stop).await.unwrap();
    }

    /// The attempt as it is stored.
    pub(crate) async fn stored(&self, attempt: AttemptId) -> Attempt {
        let ports = self.ports.ports();
        load::<Attempt>(&*ports.store, &Key::attempt(attempt)).await.unwrap().unwrap().into_value()
    }

    /// One of an attempt's objects.
    pub(crate) fn object(&self, attempt: AttemptId, name: &str) -> String {
        let prefix = yuba_core::job::attempt_prefix(self.stack, attempt);
        let path = self.path("objects").join(format!("{prefix}{name}"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Where one of an attempt's objects lies.
    pub(crate) fn object_path(&self, attempt: AttemptId, name: &str) -> PathBuf {
        self.path("objects").join(format!("{}{name}", yuba_core::job::attempt_prefix(self.stack, attempt)))
    }

    async fn attempt(&self, job: Job) -> AttemptReport {
        self.issue(&job).await;
        self.run(job.attempt).await;
        self.stored(job.attempt).await.report.expect("the attempt has reported")
    }

    fn job(&self, attempt: AttemptId, kind: RunKind, plan: Option<PlanToApply>) -> Job {
        let spec: StackSpec = serde_json::from_value(self.spec.clone()).unwrap();
        Job {
            schema: 1,
            attempt,
            stack: self.stack,
            name: StackName::new("default", "stack"),
            kind,
            revision: format!("main@sha1:{COMMIT}").parse().unwrap(),
            tree: COMMIT.parse().unwrap(),
            spec,
            timeout: self.timeout,
            plan,
            state_kept_as: None,
            backend_first: Vec::new(),
            adopted: true,
        }
    }

    fn pack(&self) {
        let object = self.path("objects").join(artifact_object(&COMMIT.parse().unwrap()));
        fs::create_dir_all(object.parent().unwrap()).unwrap();
        let mut builder = tar_builder();
        builder.append_dir_all("", self.path("code")).unwrap();
        fs::write(object, zstd::encode_all(builder.into_inner().unwrap().as_slice(), 1).unwrap()).unwrap();
    }
}

/// A run that no other test has: as root, each attempt's engine is a user of its own, by the attempt's id.
fn new_run() -> RunId {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let number = u128::from(std::process::id()) << 32 | u128::from(RUNS.fetch_add(1, Ordering::Relaxed));
    RunId(Ulid::from_parts(2, number))
}

fn tar_builder() -> tar::Builder<Vec<u8>> {
    let mut builder = tar::Builder::new(Vec::new());
    builder.follow_symlinks(false);
    builder
}

fn spec() -> Value {
    json!({
        "source": "default/source", "path": "stack", "interval": "1h", "retry_interval": "15s", "timeout": "5m",
        "apply_timeout": "6h", "approve_plan": "auto", "plan_only": false, "suspend": false, "force": false,
        "destroy": false, "vars": [], "vars_from": [], "tf_vars_files": [], "backend": null, "workspace": "default",
        "depends_on": [], "write_outputs": null, "enable_inventory": true,
        "roles": {"plan": null, "apply": null, "service_account": null},
        "engine": {"tool": null, "version": null, "strength": "wish"}, "labels": {}, "drift": {"mode": "alert"},
        "triggers": [], "state_is_new": true, "not_applied": [],
    })
}

/// All files below a directory, with their contents.
pub(crate) fn files(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = walkdir::WalkDir::new(directory).into_iter().flatten();
    let paths = entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path);
    paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}
