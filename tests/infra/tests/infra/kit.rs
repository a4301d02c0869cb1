//! A copy of `infra/`, the real tofu or terraform in it, and the plan that comes of it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value, json};
use tempfile::TempDir;
use walkdir::WalkDir;

pub(crate) const FUNCTIONS: [&str; 8] =
    ["webhook", "scheduler", "source", "orchestrator", "tasks", "api", "slack", "notifier"];

/// The repository of the source function's image.
const SOURCE: &str = "444455556666.dkr.ecr.eu-central-1.amazonaws.com/yuba/source";

/// A resource as it is planned; `values` lacks what is not known before it is made.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) address: String,
    pub(crate) kind: String,
    pub(crate) values: Value,
    unknown: Value,
}

/// A planned example.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) installation: &'static str,
    pub(crate) resources: Vec<Resource>,
}

/// A copy of `infra/` that an engine works in.
pub(crate) struct Copy {
    dir: TempDir,
    example: &'static str,
}

/// What a command came to.
pub(crate) struct Ended {
    pub(crate) is_good: bool,
    /// What it said, on one line.
    pub(crate) text: String,
}

pub(crate) fn infra() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../infra")
}

pub(crate) fn minimal() -> &'static Plan {
    static PLAN: OnceLock<Plan> = OnceLock::new();
    PLAN.get_or_init(|| Copy::of("minimal", &minimal_input()).plan("demo"))
}

pub(crate) fn existing_vpc() -> &'static Plan {
    static PLAN: OnceLock<Plan> = OnceLock::new();
    PLAN.get_or_init(|| Copy::of("existing-vpc", &existing_vpc_input()).plan("prod"))
}

/// Both examples.
pub(crate) fn plans() -> [&'static Plan; 2] {
    [minimal(), existing_vpc()]
}

pub(crate) fn minimal_input() -> Value {
    json!({"manifests": "https://example.com/infra.git", "package_bucket": "packages", "source_image": image(SOURCE), "runner_image": image("public.ecr.aws/yuba/runner")})
}

pub(crate) fn existing_vpc_input() -> Value {
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
    pub(crate) fn of(example: &'static str, input: &Value) -> Self {
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
        let copy = Self { dir, example };
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
    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.folder().join(name), text).expect("written");
    }

    /// Appends to a file of the module.
    pub(crate) fn append(&self, name: &str, text: &str) {
        let path = self.dir.path().join(name);
        let whole = std::fs::read_to_string(&path).expect("readable") + text;
        std::fs::write(path, whole).expect("written");
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        run(&self.folder(), arguments)
    }

    fn succeeds(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert!(ended.is_good, "{arguments:?} in {} said: {}", self.example, ended.text);
        ended.text
    }

    pub(crate) fn init(self) -> Self {
        self.succeeds(&["init", "-backend=false"]);
        self
    }

    /// What the example comes to.
    pub(crate) fn plan(self, installation: &'static str) -> Plan {
        let copy = self.init();
        copy.succeeds(&["validate"]);
        copy.succeeds(&["plan", "-out=p", "-lock=false"]);
        let shown: Value = serde_json::from_str(&copy.succeeds(&["show", "-json", "p"])).expect("a plan");
        let changes = shown["resource_changes"].as_array().expect("changes");
        let planned = changes.iter().filter(|change| change["mode"] == "managed");
        Plan { installation, resources: planned.map(Resource::of).collect() }
    }
}

/// Runs tofu, or where it is missing terraform.
#[expect(clippy::disallowed_methods, reason = "a test runs the real tofu or terraform")]
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Ended {
    let version = stands_for();
    let configuration = yuba_toy_cloud::stand_in_mirror("hashicorp/aws", &version).expect("a mirror");
    let start = |engine: &str| {
        Command::new(engine)
            .args(arguments)
            .current_dir(folder)
            .env("TF_CLI_CONFIG_FILE", &configuration)
            .env("TF_IN_AUTOMATION", "1")
            .env("TF_INPUT", "0")
            .env("STAND_IN", env!("CARGO_MANIFEST_DIR"))
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
pub(crate) fn stands_for() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(path).expect("a schema")).expect("JSON");
    schema["stands_for"].as_str().expect("a version").to_owned()
}

impl Plan {
    /// The resources of a type.
    pub(crate) fn all<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Resource> {
        self.resources.iter().filter(move |resource| resource.kind == kind)
    }

    /// The one resource at an address below the module.
    pub(crate) fn one(&self, address: &str) -> &Resource {
        let address = format!("module.yuba.{address}");
        let found = self.resources.iter().find(|resource| resource.address == address);
        found.unwrap_or_else(|| panic!("there is no {address}"))
    }

    /// The Lambda function.
    pub(crate) fn function(&self, name: &str) -> &Resource {
        self.one(&format!("module.{name}.aws_lambda_function.this"))
    }
}

impl Resource {
    fn of(change: &Value) -> Self {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        Self {
            address: text(&change["address"]),
            kind: text(&change["type"]),
            values: change["change"]["after"].clone(),
            unknown: change["change"]["after_unknown"].clone(),
        }
    }

    /// A text that must be known in the plan.
    pub(crate) fn text(&self, name: &str) -> &str {
        self.values[name].as_str().unwrap_or_else(|| panic!("{}: {name} is not known", self.address))
    }

    /// A text that is a JSON document, and must be known in the plan.
    pub(crate) fn document(&self, name: &str) -> Value {
        let document = serde_json::from_str(self.text(name));
        document.unwrap_or_else(|error| panic!("{}: {name}: {error}", self.address))
    }

    /// The keys of a map below a path, whether or not their values are known.
    pub(crate) fn keys(&self, pointer: &str) -> Vec<String> {
        let of = |value: &Value| -> Vec<String> {
            let object = value.pointer(pointer).and_then(Value::as_object);
            object.map(|object| object.keys().cloned().collect()).unwrap_or_default()
        };
        let mut keys = [of(&self.values), of(&self.unknown)].concat();
        keys.sort();
        keys.dedup();
        keys
    }
}

/// The texts of a value that is a text or a list of them.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    let one = |value: &Value| value.as_str().expect("a text").to_owned();
    value.as_array().map_or_else(|| vec![one(value)], |values| values.iter().map(one).collect())
}

/// The statements of a policy.
pub(crate) fn statements(policy: &Value) -> Vec<Value> {
    policy["Statement"].as_array().expect("statements").clone()
}
