//! A repository, a server, a cloud, and a small language over the three.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use rustix::process::Pid;
use serde_json::Value;
use tempfile::TempDir;
use yuba_toy_cloud::Cloud;

use crate::program::{Ran, engine, find_program, path, run};
use crate::repository::Repository;
use crate::server::Server;
use crate::tasks::{self, Task};

/// How long a stack may take to reach a state.
const PATIENCE: &str = "90s";

/// Everything a test speaks about. Dropping it ends the server, and what is left of its tasks.
#[derive(Debug)]
pub struct World {
    /// The repository that holds code and manifests.
    pub repository: Repository,
    /// The cloud.
    pub cloud: Cloud,
    server: Option<Server>,
    isolation: &'static str,
    kill_after: Option<&'static str>,
    arguments: Vec<String>,
    dir: TempDir,
}

impl World {
    /// A repository with one source named `code`; nothing runs yet.
    pub fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory can be made");
        open_to_all(dir.path(), 0o1777);
        let repository = Repository::new(dir.path());
        let cloud = Cloud::at(dir.path().join("cloud"));
        cloud.open().expect("a directory can be made");
        repository.write("flux/source.yaml", &source(&repository.url()));
        let arguments = Vec::new();
        Self { repository, cloud, server: None, isolation: "as-root", kill_after: None, arguments, dir }
    }

    /// Adds a stack at `stacks/<name>` whose manifest has these further lines of its spec.
    pub fn stack(&self, name: &str, code: &str, spec: &str) {
        self.repository.write(&format!("stacks/{name}/main.tf"), &format!("{PROVIDER}{code}"));
        self.repository.write(&format!("flux/{name}.yaml"), &manifest(name, spec));
    }

    /// From now on servers run engines as they run themselves, also as root.
    pub fn isolate_nothing(&mut self) {
        self.isolation = "never";
    }

    /// From now on an interrupted engine may take this long to end.
    pub fn kill_after(&mut self, grace: &'static str) {
        self.kill_after = Some(grace);
    }

    /// Servers that are started from now on get these arguments too.
    pub fn serve_with(&mut self, arguments: &[&str]) {
        self.arguments.extend(arguments.iter().map(|&argument| argument.to_owned()));
    }

    /// Pushes what was written and starts the server on it.
    pub fn begin(&mut self) {
        self.repository.push("Begin");
        self.start();
    }

    /// Starts the server (again).
    pub fn start(&mut self) {
        let environment = self.environment();
        let manifests = format!("{}@main//flux", self.repository.url());
        let own = ["--manifests", &manifests, "--manifests-interval", "1s", "--isolation", self.isolation];
        let arguments: Vec<&str> = own.into_iter().chain(self.arguments.iter().map(String::as_str)).collect();
        self.server = Some(Server::start(self.dir.path(), &environment, &arguments));
    }

    /// Applies a stack's code as its old controller would have, elsewhere; the path of the state that this left.
    pub fn applied_elsewhere(&self, stack: &str) -> String {
        let code = self.repository.work().join("stacks").join(stack);
        let elsewhere = self.dir.path().join("elsewhere");
        std::fs::create_dir_all(&elsewhere).expect("a directory can be made");
        std::fs::copy(code.join("main.tf"), elsewhere.join("main.tf")).expect("files can be copied");
        for arguments in [&["init", "-input=false"][..], &["apply", "-input=false", "-auto-approve"]] {
            let mut command = Command::new(engine());
            run(command.args(arguments).current_dir(&elsewhere).envs(self.environment())).ok();
        }
        elsewhere.join("terraform.tfstate").display().to_string()
    }

    /// Puts a script before the engine: it runs these lines in the engine's place, then becomes the engine.
    pub fn around_engine(&self, lines: &str) {
        let (name, bin) = (engine(), self.dir.path().join("bin"));
        let real = find_program(name);
        std::fs::create_dir_all(&bin).expect("a directory can be made");
        let script = bin.join(name);
        std::fs::write(&script, format!("#!/bin/sh\n{lines}\nexec {} \"$@\"\n", real.display()))
            .expect("files can be written");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))
            .expect("files can be changed");
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let config = yuba_toy_cloud::shared_mirror().unwrap_or_else(|error| panic!("{error}"));
        let mut environment = vec![
            ("TF_CLI_CONFIG_FILE", config.display().to_string()),
            ("TOY_CLOUD_DIR", self.cloud.dir().display().to_string()),
        ];
        environment.extend(self.kill_after.map(|grace| ("YUBA_KILL_AFTER", grace.to_owned())));
        let bin = self.dir.path().join("bin");
        if bin.exists() {
            environment.push(("PATH", format!("{}:{}", bin.display(), path())));
        }
        environment
    }

    /// The process of the one task of this phase that runs.
    pub fn runner(&self, phase: &str) -> Pid {
        let task = self.tasks().into_iter().find(|task| task.attempt.phase.to_string() == phase);
        task.and_then(|task| task.first).unwrap_or_else(|| panic!("no {phase} runs"))
    }

    /// The tasks that live.
    pub fn tasks(&self) -> Vec<Task> {
        tasks::living(&self.dir.path().join("data/tasks"))
    }

    /// `kill -9` of every process of a task.
    pub fn kill_task(&self, task: Task) {
        tasks::kill(&self.dir.path().join("data/tasks"), task.attempt);
    }

    /// Looks again and again until something holds.
    pub fn until(&self, what: &str, holds: impl Fn() -> bool) {
        for _ in 0..900 {
            if holds() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!(
            "it never came about that {what}\n{}",
            self.server.as_ref().map(Server::log).unwrap_or_default()
        );
    }

    /// The ids of the stack's runs, oldest first.
    pub fn run_ids(&self, stack: &str) -> Vec<String> {
        self.runs(stack).iter().map(|run| run["id"].as_str().unwrap_or("?").to_owned()).collect()
    }

    /// The running server.
    pub fn server(&self) -> &Server {
        self.server.as_ref().expect("the server runs")
    }

    /// `kill -9` of the server.
    pub fn kill(&mut self) {
        self.server.take().expect("the server runs").kill();
    }

    /// The directory that holds everything.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Runs the command line.
    pub fn yuba(&self, arguments: &[&str]) -> Ran {
        self.server().cli(arguments)
    }

    /// Waits until the stack's current or last run is in the state.
    pub fn wait(&self, stack: &str, state: &str) {
        let ran = self.yuba(&["wait", stack, "--for", state, "--timeout", PATIENCE]);
        assert_eq!(ran.code, 0, "{}{}\n{}", ran.out, ran.err, self.server().log());
    }

    /// The stack as `get stacks -o json` lists it.
    pub fn get(&self, stack: &str) -> Value {
        let list: Value =
            serde_json::from_str(&self.yuba(&["get", "stacks", "-o", "json"]).ok()).expect("JSON");
        let found = list["items"]
            .as_array()
            .and_then(|items| items.iter().find(|item| item["name"] == stack).cloned());
        found.unwrap_or_else(|| panic!("no stack {stack} in {list}"))
    }

    /// How many runs of the stack were made, and in which state each is, oldest first.
    pub fn states(&self, stack: &str) -> Vec<String> {
        self.runs(stack).iter().map(|run| run["state"].as_str().unwrap_or("?").to_owned()).collect()
    }

    fn runs(&self, stack: &str) -> Vec<Value> {
        let list: Value =
            serde_json::from_str(&self.yuba(&["get", "runs", "-o", "json"]).ok()).expect("JSON");
        let items = list["items"].as_array().cloned().unwrap_or_default();
        let mut runs: Vec<Value> = items.into_iter().filter(|item| item["name"] == stack).collect();
        runs.sort_by_key(|item| item["number"].as_u64());
        runs
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // The server goes first, so that none is started meanwhile. What a task has to report nobody waits for.
        self.server = None;
        self.tasks().into_iter().for_each(|task| self.kill_task(task));
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

/// Lets every user use what a test makes: where tests are root, each engine is another user.
pub fn open_to_all(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("files can be changed");
}

/// What every root module begins with.
const PROVIDER: &str = r#"terraform {
  required_providers {
    toy = { source = "yuba/toy" }
  }
}

"#;

fn source(url: &str) -> String {
    format!(
        "apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {{name: code, namespace: infra}}
spec:
  interval: 1s
  url: {url}
  ref: {{branch: main}}
"
    )
}

fn manifest(name: &str, spec: &str) -> String {
    let spec = spec.lines().map(|line| format!("  {line}\n")).collect::<Vec<_>>().concat();
    format!(
        "apiVersion: infra.contrib.fluxcd.io/v1alpha2
kind: Terraform
metadata:
  name: {name}
  namespace: infra
  annotations: {{yuba.dev/state: new}}
spec:
  path: ./stacks/{name}
  interval: 1h
  retryInterval: 2s
  sourceRef: {{kind: GitRepository, name: code}}
{spec}"
    )
}
