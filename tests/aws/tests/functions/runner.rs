//! Tasks that run, as `ecs.py` runs them, and people who look on through the command line.

use std::fs;
use std::process::Command;

use serde_json::Value;
use yuba_core::id::AttemptId;

use crate::world::{TOKEN, World, programs};

/// The directory of tasks in that of a world.
pub(crate) const TASKS: &str = "tasks";

impl World {
    /// Says what is to go wrong with tasks from now on, in the words of `ecs.py`.
    pub(crate) fn control(&self, what: &Value) {
        let (now, new) = (self.tasks("control.json"), self.tasks("control.new"));
        fs::write(&new, what.to_string()).unwrap();
        fs::rename(new, now).unwrap();
    }

    /// How many requests each rule of what goes wrong was for.
    pub(crate) fn met(&self) -> Vec<u64> {
        fs::read(self.tasks("met.json")).map(|met| serde_json::from_slice(&met).unwrap()).unwrap_or_default()
    }

    /// What is noted of a task, where it was asked for.
    pub(crate) fn noted(&self, attempt: AttemptId) -> Option<Value> {
        let noted = fs::read(self.tasks(&format!("{attempt}.json"))).ok()?;
        Some(serde_json::from_slice(&noted).unwrap())
    }

    /// What a task's process said.
    pub(crate) fn said(&self, attempt: AttemptId) -> String {
        fs::read_to_string(self.tasks(&format!("{attempt}.log"))).unwrap()
    }

    /// Runs the command line; what it said, and its exit code.
    #[expect(clippy::disallowed_methods, reason = "tests run programs as people do")]
    pub(crate) fn yuba(&self, arguments: &[&str]) -> (String, Option<i32>) {
        let mut command = Command::new(programs().join("yuba"));
        let command = command.env_clear().args(arguments).env("YUBA_TOKEN", TOKEN);
        let ran = command.env("YUBA_SERVER", self.url("api")).output().unwrap();
        let said = [ran.stdout, ran.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        (said, ran.status.code())
    }

    /// Waits until the last run of the stack is in a state.
    pub(crate) fn wait(&self, state: &str) {
        self.wait_long(state, "60s");
    }

    /// As [`Self::wait`], for as long as is said.
    pub(crate) fn wait_long(&self, state: &str, patience: &str) {
        let (said, code) = self.yuba(&["wait", "net", "--for", state, "--timeout", patience]);
        let sources = || self.yuba(&["get", "sources"]).0;
        assert_eq!(code, Some(0), "{said}{}{}", sources(), self.told());
    }

    /// All that tasks have said, for a test that fails.
    fn told(&self) -> String {
        let logs = fs::read_dir(self.tasks("")).unwrap().map(|entry| entry.unwrap().path());
        let logs = logs.filter(|path| path.extension().is_some_and(|end| end == "log"));
        let logs = logs.map(|path| fs::read_to_string(path).unwrap());
        logs.collect::<Vec<_>>().join("\n")
    }
}
