//! Git over SSH: the real sshd with a host key of its own, which lets one key in.

use std::fmt::Write as _;
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use tempfile::TempDir;

/// Where systems keep it: off the PATH of most people.
const PLACES: [&str; 4] = ["/usr/sbin/sshd", "/usr/local/sbin/sshd", "/usr/bin/sshd", "/usr/local/bin/sshd"];

/// An SSH server on 127.0.0.1; it stops when it is dropped.
#[derive(Debug)]
pub struct SshServer {
    address: SocketAddr,
    user: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    directory: TempDir,
}

impl SshServer {
    /// A server with new keys, which lets whoever runs it log in with one of them. Repositories are named by their whole path.
    pub fn start() -> Self {
        let sshd = PLACES.iter().map(Path::new).find(|place| place.exists()).unwrap_or_else(|| {
            panic!(
                "sshd is missing, which tests of Git over SSH need; on Debian: apt-get install openssh-server"
            )
        });
        let directory = tempfile::tempdir().expect("a directory can be made");
        for key in ["host", "let-in", "unknown"] {
            make_key(&directory.path().join(key));
        }
        let configuration = directory.path().join("sshd_config");
        fs::write(&configuration, configured(directory.path())).expect("files can be written");
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port can be had");
        let address = listener.local_addr().expect("a listener has an address");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let log = directory.path().join("log");
        let thread = thread::spawn(move || {
            let meetings: Vec<JoinHandle<()>> = listener
                .incoming()
                .take_while(|_| !stopped.load(Ordering::SeqCst))
                .flatten()
                .map(|stream| meet(sshd.to_owned(), &configuration, &log, stream))
                .collect();
            for meeting in meetings {
                meeting.join().expect("a connection ends");
            }
        });
        Self { address, user: whoami(), stop, thread: Some(thread), directory }
    }

    /// The URL of a repository on this machine.
    pub fn url(&self, repository: &Path) -> String {
        format!("ssh://{}@{}{}", self.user, self.address, repository.display())
    }

    /// The private key that is let in.
    pub fn identity(&self) -> String {
        self.file("let-in")
    }

    /// A private key that is not.
    pub fn unknown_identity(&self) -> String {
        self.file("unknown")
    }

    /// What a user's `known_hosts` says of it.
    pub fn known_hosts(&self) -> String {
        self.known_by("host.pub")
    }

    /// What `known_hosts` says of it where somebody else's key is taken for its own.
    pub fn wrong_known_hosts(&self) -> String {
        self.known_by("unknown.pub")
    }

    /// What its sshd has said.
    pub fn log(&self) -> String {
        fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }

    fn known_by(&self, key: &str) -> String {
        format!("[{}]:{} {}", self.address.ip(), self.address.port(), self.file(key))
    }

    fn file(&self, name: &str) -> String {
        fs::read_to_string(self.directory.path().join(name)).expect("a key can be read")
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn configured(directory: &Path) -> String {
    let mut lines = String::new();
    let (host, keys) = (directory.join("host"), directory.join("let-in.pub"));
    for (setting, value) in [
        ("HostKey", host.display().to_string()),
        ("AuthorizedKeysFile", keys.display().to_string()),
        // Its directory lies below one that everybody may write to.
        ("StrictModes", "no".to_owned()),
        ("UsePAM", "no".to_owned()),
        ("PasswordAuthentication", "no".to_owned()),
        ("KbdInteractiveAuthentication", "no".to_owned()),
        ("PermitRootLogin", "prohibit-password".to_owned()),
        ("PidFile", "none".to_owned()),
        ("LogLevel", "VERBOSE".to_owned()),
    ] {
        writeln!(lines, "{setting} {value}").expect("text can be written");
    }
    lines
}

/// Serves one connection, as inetd does.
#[expect(clippy::disallowed_methods, reason = "the real sshd, in a test")]
fn meet(sshd: PathBuf, configuration: &Path, log: &Path, stream: TcpStream) -> JoinHandle<()> {
    let mut command = Command::new(sshd);
    let answers = stream.try_clone().expect("a connection can be shared");
    command.arg("-i").arg("-f").arg(configuration).arg("-E").arg(log);
    command.stdin(OwnedFd::from(stream)).stdout(OwnedFd::from(answers));
    thread::spawn(move || {
        // How it ended stands in its log.
        let _ = command.status().expect("sshd can be started");
    })
}

#[expect(clippy::disallowed_methods, reason = "the real ssh-keygen, in a test")]
fn make_key(file: &Path) {
    let mut command = Command::new("ssh-keygen");
    let made = command.args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"]).arg(file).output();
    let made = made.expect("ssh-keygen, which comes with ssh, can be started");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

#[expect(clippy::disallowed_methods, reason = "sshd lets in whoever runs it")]
fn whoami() -> String {
    let asked = Command::new("id").arg("-un").output().expect("id can be started");
    String::from_utf8_lossy(&asked.stdout).trim().to_owned()
}
