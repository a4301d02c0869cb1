#![doc = include_str!("../README.md")]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "a test's kit fails the test"
)]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;
use walkdir::WalkDir;

/// The functions that `infra/` deploys.
pub const FUNCTIONS: [&str; 8] =
    ["webhook", "scheduler", "source", "orchestrator", "tasks", "api", "slack", "notifier"];

/// The repository of the source function's image.
const SOURCE: &str = "444455556666.dkr.ecr.eu-central-1.amazonaws.com/yuba/source";

/// A copy of `infra/` that an engine works in.
#[derive(Debug)]
pub struct Copy {
    dir: TempDir,
    example: &'static str,
    is_made: bool,
}

/// What a command came to.
#[derive(Debug)]
pub struct Ended {
    /// Whether it succeeded.
    pub is_good: bool,
    /// What it said; where it failed, on one line.
    pub text: String,
}

/// The folder that is deployed.
pub fn infra() -> PathBuf {
    here().join("../../infra")
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What the example `minimal` is given.
pub fn minimal_input() -> Value {
    json!({"manifests": "https://example.com/infra.git", "package_bucket": "packages", "source_image": image(SOURCE), "runner_image": image("public.ecr.aws/yuba/runner")})
}

/// What the example `existing-vpc` is given.
pub fn existing_vpc_input() -> Value {
    json!({
        "vpc_id": "vpc-1",
        "private_subnet_ids": ["subnet-1", "subnet-2"],
        "task_security_group_id": "sg-1",
        "package_directory": "packages",
        "source_image": image(SOURCE),
        "runner_images": {
            "default": image("444455556666.dkr.ecr.eu-west-1.amazonaws.com/yuba/runner"),
            "legacy": image("444455556666.dkr.ecr.eu-west-1.amazonaws.com/yuba/runner-legacy"),
        },
        "target_account_ids": ["222233334444", "333344445555"],
        "alarm_topic_arn": "arn:aws:sns:eu-central-1:111122223333:alarms",
    })
}

fn image(repository: &str) -> String {
    format!("{repository}@sha256:{}", "0".repeat(64))
}

impl Copy {
    /// Copies the code, and puts the example's input and packages there.
    pub fn of(example: &'static str, input: &Value) -> Self {
        let dir = TempDir::new().expect("a directory");
        for entry in WalkDir::new(infra()) {
            let entry = entry.expect("infra is readable");
            let to = dir.path().join(entry.path().strip_prefix(infra()).expect("below infra"));
            if entry.file_type().is_dir() {
                std::fs::create_dir_all(to).expect("a directory");
            } else {
                std::fs::copy(entry.path(), to).expect("copied");
            }
        }
        let copy = Self { dir, example, is_made: false };
        copy.write("terraform.tfvars.json", &input.to_string());
        std::fs::create_dir(copy.folder().join("packages")).expect("a directory");
        for function in FUNCTIONS.into_iter().filter(|function| *function != "source") {
            copy.write(&format!("packages/{function}.zip"), "a zip");
        }
        copy
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("examples").join(self.example)
    }

    /// Writes a file of the example.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder().join(name), text).expect("written");
    }

    /// Appends to a file of the module.
    pub fn append(&self, name: &str, text: &str) {
        let path = self.dir.path().join(name);
        let whole = std::fs::read_to_string(&path).expect("readable") + text;
        std::fs::write(path, whole).expect("written");
    }

    /// Has the plan know what the cloud would say of what it made, as `made.json` says it.
    #[must_use]
    pub fn made(mut self) -> Self {
        self.is_made = true;
        self
    }

    /// Runs a command in the example.
    pub fn run(&self, arguments: &[&str]) -> Ended {
        run_with(&self.folder(), arguments, self.is_made)
    }

    fn succeeds(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert!(ended.is_good, "{arguments:?} in {} said: {}", self.example, ended.text);
        ended.text
    }

    /// Initialises the example.
    #[must_use]
    pub fn init(self) -> Self {
        self.succeeds(&["init", "-backend=false"]);
        self
    }

    /// What the example comes to, as `show -json` tells it.
    pub fn plan(self) -> Value {
        let copy = self.init();
        copy.succeeds(&["validate"]);
        copy.succeeds(&["plan", "-out=p", "-lock=false"]);
        serde_json::from_str(&copy.succeeds(&["show", "-json", "p"])).expect("a plan")
    }
}

/// Runs tofu, or where it is missing terraform.
pub fn run(folder: &Path, arguments: &[&str]) -> Ended {
    run_with(folder, arguments, false)
}

#[expect(clippy::disallowed_methods, reason = "a test runs the real tofu or terraform")]
fn run_with(folder: &Path, arguments: &[&str], is_made: bool) -> Ended {
    let version = stands_for();
    let configuration = yuba_toy_cloud::stand_in_mirror("hashicorp/aws", &version).expect("a mirror");
    let start = |engine: &str| {
        Command::new(engine)
            .args(arguments)
            .current_dir(folder)
            .env("TF_CLI_CONFIG_FILE", &configuration)
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_INPUT", "0")
            .env("STAND_IN", here())
            .envs(is_made.then(|| ("STAND_IN_MADE", here().join("made.json"))))
            .output()
    };
    let output = start("tofu").or_else(|_| start("terraform")).expect("tofu or terraform is on the PATH");
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).replace('│', " "));
    let text = if output.status.success() {
        said[0].clone()
    } else {
        said.concat().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    Ended { is_good: output.status.success(), text }
}

/// The version of the provider that the schema stands for.
pub fn stands_for() -> String {
    let path = here().join("schema.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(path).expect("a schema")).expect("JSON");
    schema["stands_for"].as_str().expect("a version").to_owned()
}
