//! A backend of the `http` kind: one state, its lock, and a switch that makes it refuse to be written.
//! <https://developer.hashicorp.com/terraform/language/backend/http>

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The backend. It serves until the test's process ends.
#[derive(Debug, Clone)]
pub struct StateBackend {
    address: String,
    held: Arc<Mutex<Held>>,
}

#[derive(Debug, Default)]
struct Held {
    state: Option<Vec<u8>>,
    lock: Option<Vec<u8>>,
    taken: Vec<Vec<u8>>,
    refuses: bool,
    denies: bool,
}

impl StateBackend {
    /// A backend without a state, on a port of its own.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = format!("http://{}/state", listener.local_addr().expect("a listener has an address"));
        let held = Arc::new(Mutex::new(Held::default()));
        let shared = Arc::clone(&held);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client that hangs up early is no matter of the backend's.
                let _ = answer(&stream, &shared);
            }
        });
        Self { address, held }
    }

    /// The lines of a manifest's spec that name it.
    pub fn spec(&self) -> String {
        let Self { address, .. } = self;
        format!(
            "backendConfig:\n  customConfiguration: |\n    backend \"http\" {{\n      address        = \"{address}\"\n      \
             lock_address   = \"{address}\"\n      unlock_address = \"{address}\"\n      retry_max      = 0\n    }}\n"
        )
    }

    /// The lines of a manifest's spec that name it, and no lock.
    pub fn spec_without_lock(&self) -> String {
        let lines = self.spec();
        let kept = lines.lines().filter(|line| !line.contains("lock_address"));
        kept.collect::<Vec<_>>().join("\n")
    }

    /// From now on states are not taken, or are again.
    pub fn refuse_writes(&self, refuses: Refuses) {
        self.held().refuses = refuses == Refuses::Yes;
    }

    /// From now on nobody is let in.
    pub fn deny_everybody(&self) {
        self.held().denies = true;
    }

    /// Locks the state as somebody else who never lets go of it.
    pub fn lock(&self, info: &str) {
        self.held().lock = Some(info.as_bytes().to_vec());
    }

    /// The lock that is held, as its holder wrote it.
    pub fn lock_held(&self) -> Option<String> {
        self.held().lock.as_deref().map(|lock| String::from_utf8_lossy(lock).into_owned())
    }

    /// Every lock that was ever taken, as its holder wrote it.
    pub fn locks_taken(&self) -> Vec<String> {
        self.held().taken.iter().map(|lock| String::from_utf8_lossy(lock).into_owned()).collect()
    }

    /// The state as text; empty where there is none.
    pub fn state(&self) -> String {
        self.held()
            .state
            .as_deref()
            .map(|state| String::from_utf8_lossy(state).into_owned())
            .unwrap_or_default()
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Held> {
        self.held.lock().expect("no thread has panicked")
    }
}

/// Whether the backend refuses to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refuses {
    /// It does.
    Yes,
    /// It does not.
    No,
}

fn answer(stream: &TcpStream, held: &Mutex<Held>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let (status, text) = held.lock().expect("no thread has panicked").serve(&request, body);
    let mut stream = stream;
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", text.len())?;
    stream.write_all(&text)
}

impl Held {
    fn serve(&mut self, request: &str, body: Vec<u8>) -> (&'static str, Vec<u8>) {
        let done = ("200 OK", Vec::new());
        match request.split(' ').next().unwrap_or_default() {
            _ if self.denies => ("401 Unauthorized", Vec::new()),
            "GET" => match &self.state {
                Some(state) => ("200 OK", state.clone()),
                None => ("404 Not Found", Vec::new()),
            },
            "POST" if self.refuses => ("413 Content Too Large", Vec::new()),
            "POST" => {
                self.state = Some(body);
                done
            }
            "LOCK" => {
                if let Some(lock) = &self.lock {
                    return ("423 Locked", lock.clone());
                }
                self.taken.push(body.clone());
                self.lock = Some(body);
                done
            }
            "UNLOCK" => {
                self.lock = None;
                done
            }
            _ => ("405 Method Not Allowed", Vec::new()),
        }
    }
}
