//! `yuba serve` as a process of its own, on a port of its own, that can be killed and started again.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::program::{Ran, run, yuba};

/// A running server.
#[derive(Debug)]
pub struct Server {
    child: Child,
    dir: PathBuf,
}

impl Server {
    /// Starts a server on a data directory below `dir`, and waits until it answers.
    #[expect(clippy::disallowed_methods, reason = "tests run programs as people do")]
    pub fn start(dir: &Path, environment: &[(&str, String)], arguments: &[&str]) -> Self {
        let log = File::options()
            .create(true)
            .append(true)
            .open(dir.join("serve.log"))
            .expect("a log can be opened");
        let url_file = dir.join("data/server.url");
        let _ = fs::remove_file(&url_file);
        let child = Command::new(yuba())
            .arg("serve")
            .args(["--listen", "127.0.0.1:0", "--data"])
            .arg(dir.join("data"))
            .args(arguments)
            .envs(environment.iter().map(|(name, value)| (*name, value.as_str())))
            .env("XDG_STATE_HOME", dir.join("state"))
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a log can be shared"))
            .stderr(log)
            .spawn()
            .expect("yuba serve starts");
        let mut server = Self { child, dir: dir.to_owned() };
        server.wait_until_it_answers(&url_file);
        server
    }

    /// The first answer: the world asks until it comes.
    fn wait_until_it_answers(&mut self, url_file: &Path) {
        for _ in 0..600 {
            if let Some(status) = self.child.try_wait().expect("a child can be asked") {
                panic!("yuba serve ended with {status}\n{}", self.log());
            }
            if url_file.exists() && self.cli(&["get", "stacks"]).code == 0 {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("yuba serve does not answer\n{}", self.log());
    }

    /// Runs the command line against this server.
    pub fn cli(&self, arguments: &[&str]) -> Ran {
        let url = fs::read_to_string(self.dir.join("data/server.url")).unwrap_or_default();
        run(Command::new(yuba())
            .args(arguments)
            .env("YUBA_SERVER", url.trim())
            .env("XDG_STATE_HOME", self.dir.join("state"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null()))
    }

    /// `kill -9`.
    pub fn kill(mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a killed child ends");
    }

    /// SIGTERM, and waits for the end.
    pub fn stop(mut self) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, Signal::TERM).expect("a child can be signalled");
        self.child.wait().expect("a stopped child ends");
    }

    /// All that servers on this directory have logged.
    pub fn log(&self) -> String {
        fs::read_to_string(self.dir.join("serve.log")).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
