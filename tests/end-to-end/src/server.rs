//! `yuba serve` as a process of its own, on a port of its own, that can be killed and started again.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, prlimit};

use crate::program::{Ran, run, yuba};

/// Writes beyond the limit of `fill_disk` fail, as on a full disk, and kill nobody.
const MORTAL_WRITES: &str = "trap '' XFSZ; exec \"$@\"";

/// What a process that may open nothing more may still hold by the limit's count.
const STANDARD_STREAMS: u64 = 3;

/// The file with the secret that webhooks are signed with.
const WEBHOOK_SECRET: &str = "webhook-secret";

/// Posts a payload to a server as Slack does, signed and without a token; the status of the answer.
#[expect(clippy::disallowed_methods, reason = "Slack signs by the clock")]
pub fn post_as_slack(url: &str, path: &str, payload: &serde_json::Value) -> io::Result<u16> {
    let body =
        form_urlencoded::Serializer::new(String::new()).append_pair("payload", &payload.to_string()).finish();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()).to_string();
    let secret = yuba_fake_slack::FakeSlack::SIGNING_SECRET.into();
    let signature = yuba_slack::sign(&secret, &now, body.as_bytes()).unwrap_or_default();
    let address = url.trim_start_matches("http://");
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nX-Slack-Request-Timestamp: {now}\r\n\
         X-Slack-Signature: {signature}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.split_whitespace().nth(1).and_then(|status| status.parse().ok()).unwrap_or(0))
}

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
        let (url_file, secret_file) = (dir.join("data/server.url"), dir.join(WEBHOOK_SECRET));
        fs::write(&secret_file, "what the sender knows too").expect("files can be written");
        let _ = fs::remove_file(&url_file);
        let child = Command::new("/bin/sh")
            .args(["-c", MORTAL_WRITES, "serve"])
            .arg(yuba())
            .arg("serve")
            .args(["--listen", "127.0.0.1:0", "--data"])
            .arg(dir.join("data"))
            .arg("--webhook-secret-file")
            .arg(secret_file)
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

    /// From now on the server, and what it starts, can write nothing to any file: as on a full or read-only disk, but on
    /// every machine, for every user, and for this server alone.
    pub fn fill_disk(&self) {
        self.limit(Resource::Fsize, Rlimit { current: Some(0), ..getrlimit(Resource::Fsize) });
    }

    /// From now on it can write again.
    pub fn free_disk(&self) {
        self.limit(Resource::Fsize, getrlimit(Resource::Fsize));
    }

    /// From now on the server can open, make and start nothing: what it has open it keeps.
    pub fn deny_files(&self) {
        let current = Some(STANDARD_STREAMS);
        self.limit(Resource::Nofile, Rlimit { current, ..getrlimit(Resource::Nofile) });
    }

    /// From now on it can again.
    pub fn allow_files(&self) {
        self.limit(Resource::Nofile, getrlimit(Resource::Nofile));
    }

    fn limit(&self, resource: Resource, limit: Rlimit) {
        prlimit(Some(self.pid()), resource, limit).expect("a child's limits can be set");
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// From now on the server does nothing, and its connections stay open.
    pub fn freeze(&self) {
        kill_process(self.pid(), Signal::STOP).expect("a child can be signalled");
    }

    /// From now on it goes on where it was.
    pub fn thaw(&self) {
        kill_process(self.pid(), Signal::CONT).expect("a child can be signalled");
    }

    /// Posts a body as a webhook's sender does; the whole answer.
    pub fn post(&self, path: &str, body: &[u8]) -> String {
        self.exchange(&format!("POST {path}"), "", body)
    }

    /// Tells of a push to the main branch of a repository, signed; the delivery's id, where it was accepted.
    pub fn tell_of_push(&self, repository: &str) -> Option<String> {
        let body = serde_json::json!({ "url": repository, "ref": "refs/heads/main" }).to_string();
        let secret = fs::read_to_string(self.dir.join(WEBHOOK_SECRET)).expect("the secret can be read");
        let signature = yuba_git::webhook::sign(body.as_bytes(), &secret.into()).unwrap_or_default();
        let headers = format!("X-Yuba-Signature: {signature}\r\n");
        let answer = self.exchange("POST /webhooks/generic", &headers, body.as_bytes());
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let body: serde_json::Value = serde_json::from_str(body).ok()?;
        head.starts_with("HTTP/1.1 202 ").then(|| body["delivery"].as_str().map(str::to_owned))?
    }

    /// Posts a payload as Slack does, signed; the status of the answer.
    pub fn from_slack(&self, path: &str, payload: &serde_json::Value) -> u16 {
        post_as_slack(&self.url(), path, payload).expect("the server answers")
    }

    /// A number of `/metrics`.
    pub fn metric(&self, name: &str) -> f64 {
        let answer = self.exchange("GET /metrics", "", &[]);
        let value = answer.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        value.unwrap_or_else(|| panic!("no {name} in {answer}"))
    }

    fn exchange(&self, what: &str, headers: &str, body: &[u8]) -> String {
        let url = self.url();
        let address = url.trim_start_matches("http://");
        let token_file = self.dir.join("state/yuba").join(address.replace(':', "_"));
        let token = fs::read_to_string(token_file).expect("the server wrote its token");
        let head = format!(
            "{what} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             {headers}Content-Length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = TcpStream::connect(address).expect("the server listens");
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).expect("the server reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the server answers");
        answer
    }

    fn url(&self) -> String {
        fs::read_to_string(self.dir.join("data/server.url")).unwrap_or_default().trim().to_owned()
    }

    /// Runs the command line against this server.
    pub fn cli(&self, arguments: &[&str]) -> Ran {
        let url = self.url();
        run(Command::new(yuba())
            .args(arguments)
            .env("YUBA_SERVER", url)
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
        kill_process(self.pid(), Signal::TERM).expect("a child can be signalled");
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
