//! A working directory, a toy cloud, and the real tofu or terraform between them.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use yuba_toy_cloud::{Cloud, shared_mirror};

/// One stack on its own cloud.
pub(crate) struct World {
    dir: TempDir,
    pub(crate) cloud: Cloud,
}

/// What a command came to.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) text: String,
}

impl World {
    /// Writes the code, with what requires the provider, and runs `init`.
    pub(crate) fn new(code: &str) -> Self {
        let dir = TempDir::new().expect("a directory");
        let cloud = Cloud::at(dir.path().join("cloud"));
        cloud.open().expect("a directory");
        let world = Self { dir, cloud };
        world.write(code);
        world.succeeds(&["init"]);
        world
    }

    pub(crate) fn write(&self, code: &str) {
        let head = "terraform {\nrequired_providers {\ntoy = { source = \"yuba/toy\" }\n}\n}";
        std::fs::write(self.dir.path().join("main.tf"), format!("{head}\n{code}\n")).expect("written");
    }

    /// Runs a command that must succeed, and returns what it said.
    pub(crate) fn succeeds(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(0), "{arguments:?} said:\n{}", ended.text);
        ended.text
    }

    /// Runs a command that must fail, and returns what it said, on one line.
    pub(crate) fn fails(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.code, Some(1), "{arguments:?} said:\n{}", ended.text);
        ended.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn apply(&self) -> String {
        self.succeeds(&["apply", "-auto-approve"])
    }

    /// Whether a plan finds something to do.
    pub(crate) fn plan_finds_changes(&self) -> bool {
        let ended = self.run(&["plan", "-detailed-exitcode"]);
        match ended.code {
            Some(0) => false,
            Some(2) => true,
            _ => panic!("plan said:\n{}", ended.text),
        }
    }

    /// A saved plan as JSON.
    pub(crate) fn plan_json(&self) -> Value {
        self.succeeds(&["plan", "-out=p"]);
        serde_json::from_str(&self.succeeds(&["show", "-json", "p"])).expect("a plan")
    }

    /// The addresses in the state.
    pub(crate) fn state(&self) -> Vec<String> {
        self.succeeds(&["state", "list"]).lines().map(str::to_owned).collect()
    }

    /// Starts an apply and reads what it says until it has said `words` so many times.
    pub(crate) fn apply_until(&self, words: &str, times: usize) -> Running {
        let mut child = self.start(&["apply", "-auto-approve"]);
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        let mut said = String::new();
        while said.matches(words).count() < times {
            let read = output.read_line(&mut said).expect("readable");
            assert!(read > 0, "it ended without {words:?}:\n{said}");
        }
        Running { child, output, said }
    }

    fn run(&self, arguments: &[&str]) -> Ended {
        let output = BufReader::new(std::io::empty());
        let mut child = self.start(arguments);
        let mut said = String::new();
        child.stdout.take().expect("piped").read_to_string(&mut said).expect("readable");
        Running { child, output, said }.end()
    }

    #[expect(clippy::disallowed_methods, reason = "a test runs the real tofu or terraform")]
    fn start(&self, arguments: &[&str]) -> Child {
        let start = |engine| {
            Command::new(engine)
                .args(arguments)
                .current_dir(self.dir.path())
                .env("TF_CLI_CONFIG_FILE", shared_mirror().expect("a mirror"))
                .env("TF_CLI_ARGS", "-no-color")
                .env("TF_INPUT", "0")
                .env("TOY_CLOUD_DIR", self.cloud.dir())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
        };
        start(Path::new("tofu"))
            .or_else(|_| start(Path::new("terraform")))
            .expect("tofu or terraform is on the PATH")
    }
}

/// An apply that runs.
pub(crate) struct Running<R: BufRead = BufReader<std::process::ChildStdout>> {
    child: Child,
    output: R,
    pub(crate) said: String,
}

impl<R: BufRead> Running<R> {
    /// Interrupts it as a person would.
    pub(crate) fn interrupt(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        self.output.read_to_string(&mut self.said).expect("readable");
        let errors = self.child.stderr.take().expect("piped");
        BufReader::new(errors).read_to_string(&mut self.said).expect("readable");
        let status = self.child.wait().expect("it ends");
        Ended { code: status.code(), text: self.said.replace('│', " ") }
    }
}
