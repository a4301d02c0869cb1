//! The world that the functions run in: what the ports reach, and what the oracles watch.
//!
//! One process is polled at a time, so the state behind the mutex is never contended, and whatever happens between two
//! gates happens at once.

pub(crate) mod away;
pub(crate) mod cloud;
pub(crate) mod gate;
pub(crate) mod git;
pub(crate) mod line;
mod outside;
pub(crate) mod services;
pub(crate) mod store;
pub(crate) mod tasks;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Body;
use axum::http::{Request, StatusCode};
use secrecy::SecretString;
use serde_json::Value;
use yuba_core::id::{AttemptId, InstallationId};
use yuba_core::time::{Span, Timestamp};
use yuba_ports::memory::{MemoryBlobs, MemorySecrets, MemoryStore};
use yuba_ports::{PortError, Ports, StartTask, Write};

use crate::chance::Chance;
use crate::faults::{Fault, Rates, THROTTLE};
use crate::history::{History, Keeping, Mark, Sign};
use crate::lane::Lane;
use crate::mutation::Mutation;
use crate::oracle::Oracle;
use away::Away;
use cloud::Cloud;
use gate::gate;
use git::GitHost;
use line::Line;
use services::Services;
use tasks::Launched;

/// 2026-01-01T00:00:00Z.
pub(crate) const BEGIN: Timestamp = Timestamp(1_767_225_600_000);
/// The installation's key.
pub(crate) const KEY: &str = "the key of a simulated installation";
/// How long a caller waits for an answer over HTTP.
const PATIENCE: Span = Span::seconds(30);

/// The world. Cheap to clone.
#[derive(Clone)]
pub(crate) struct World {
    shared: Arc<Shared>,
}

struct Shared {
    records: MemoryStore,
    index: MemoryStore,
    blobs: MemoryBlobs,
    secrets: MemorySecrets,
    state: Mutex<State>,
}

/// Everything that changes.
pub(crate) struct State {
    pub(crate) now: Timestamp,
    /// The process that is polled.
    pub(crate) current: Current,
    /// What that process waits for when it is not ready.
    pub(crate) wait: Wait,
    pub(crate) chance: Chance,
    pub(crate) rates: Rates,
    pub(crate) mutation: Option<Mutation>,
    /// How many faults happened.
    pub(crate) faults: u64,
    pub(crate) history: History,
    pub(crate) line: Line,
    pub(crate) git: GitHost,
    pub(crate) cloud: Cloud,
    pub(crate) services: Services,
    /// Whether manifests say where messages go.
    pub(crate) has_office: bool,
    pub(crate) oracle: Oracle,
    pub(crate) launched: BTreeMap<AttemptId, Launched>,
    /// Processes that are to be started.
    pub(crate) spawn: Vec<Spawn>,
    pub(crate) answers: BTreeMap<u64, Answer>,
    /// The processes that live.
    pub(crate) alive: BTreeSet<u64>,
    /// When something is due next, as far as the index has not changed since.
    pub(crate) first_due: KnownDue,
    /// What cannot be reached.
    pub(crate) away: Away,
    lagging: VecDeque<(Timestamp, Vec<Write>)>,
    numbers: u64,
}

/// Who is polled, and how its clock goes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Current {
    pub(crate) name: String,
    pub(crate) skew: Span,
}

/// What a process waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Its turn.
    Turn,
    /// A point in time.
    Until(Timestamp),
    /// An answer, or a point in time.
    Answer(u64, Timestamp),
}

/// A process that is to be started.
pub(crate) enum Spawn {
    /// A request to a function.
    Request { request: Box<Request<Body>>, path: String, asked: Asked },
    /// The task of an attempt.
    Task { start: StartTask },
}

/// Who waits for an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) by: Lane,
    /// Its number.
    pub(crate) answer: u64,
    pub(crate) is_answer_lost: bool,
}

/// What is known of when something is due next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownDue {
    /// The index changed since it was read.
    Unread,
    /// Then, or never.
    Read(Option<Timestamp>),
}

/// What a function answered.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
}

impl World {
    pub(crate) fn new(rates: Rates, mutation: Option<Mutation>, keeping: Keeping) -> Self {
        let state = State {
            now: BEGIN,
            current: Current::default(),
            wait: Wait::Turn,
            chance: Chance::of(0),
            rates,
            mutation,
            faults: 0,
            history: History::new(keeping),
            line: Line::default(),
            git: GitHost::default(),
            cloud: Cloud::default(),
            services: Services::default(),
            has_office: false,
            oracle: Oracle::default(),
            launched: BTreeMap::new(),
            spawn: Vec::new(),
            answers: BTreeMap::new(),
            alive: BTreeSet::new(),
            first_due: KnownDue::Unread,
            away: Away::default(),
            lagging: VecDeque::new(),
            numbers: 0,
        };
        Self {
            shared: Arc::new(Shared {
                records: MemoryStore::default(),
                index: MemoryStore::default(),
                blobs: MemoryBlobs::default(),
                secrets: MemorySecrets::default(),
                state: Mutex::new(state),
            }),
        }
    }

    /// The ports, as functions are handed them.
    pub(crate) fn ports(&self) -> Ports {
        let port = Arc::new(self.clone());
        Ports {
            installation: InstallationId("simulated".to_owned()),
            store: port.clone(),
            queue: port.clone(),
            blobs: port.clone(),
            launcher: port.clone(),
            publisher: port.clone(),
            secrets: port.clone(),
            credentials: port.clone(),
            clock: port.clone(),
            ids: port,
            key: SecretString::from(KEY),
        }
    }

    /// The secrets, for people who write them by hand.
    pub(crate) fn secrets(&self) -> &MemorySecrets {
        &self.shared.secrets
    }

    /// The state. Never held across an await.
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One call of a port: waits at the gate, then does what it is asked, unless a fault comes in between.
    async fn call<T>(
        &self,
        port: Lane,
        what: impl FnOnce() -> String + Send,
        act: impl Future<Output = Result<T, PortError>> + Send,
    ) -> Result<T, PortError> {
        gate().await;
        let fault = self.state().fault(port, Call::Any, what);
        self.with_fault(fault, act).await
    }

    async fn with_fault<T>(
        &self,
        fault: Option<Fault>,
        act: impl Future<Output = Result<T, PortError>> + Send,
    ) -> Result<T, PortError> {
        match fault {
            None | Some(Fault::Conflict) => act.await,
            Some(Fault::Throttled) => Err(PortError::wait("too many calls", THROTTLE)),
            Some(Fault::Failed) => Err(PortError::transient("it failed")),
            Some(Fault::Refused) => Err(PortError::permanent("it was refused")),
            Some(Fault::AnswerLost) => {
                act.await?;
                Err(PortError::transient("the answer was lost"))
            }
        }
    }

    /// Lets time pass for the process that asks.
    pub(crate) async fn sleep(&self, span: Span) {
        let until = self.state().now + span;
        self.state().wait = Wait::Until(until);
        gate().await;
    }

    /// Sends a request to a function and waits for its answer; `None` where none comes.
    pub(crate) async fn request(&self, request: Request<Body>) -> Option<Answer> {
        let (answer, until) = {
            let mut state = self.state();
            let answer = state.number();
            state.send(request, answer);
            (answer, state.now + PATIENCE)
        };
        loop {
            self.state().wait = Wait::Answer(answer, until);
            gate().await;
            let mut state = self.state();
            if let Some(answered) = state.answers.remove(&answer) {
                return Some(answered);
            }
            if state.now >= until {
                return None;
            }
        }
    }
}

/// What kind of call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// Any.
    Any,
    /// A commit that expects something: it may lose a race.
    Commit,
}

impl State {
    /// A number never given before.
    pub(crate) fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// When something is due next, if the index is as it was when that was read.
    pub(crate) fn known_due(&self) -> KnownDue {
        let is_late = self.lagging.front().is_some_and(|(at, _)| *at <= self.now);
        if is_late { KnownDue::Unread } else { self.first_due }
    }

    /// Notes what the process that is polled does.
    pub(crate) fn note(&mut self, what: impl FnOnce() -> String) {
        self.note_as(Sign::default(), what);
    }

    /// Notes what the process that is polled does, and how that is drawn.
    pub(crate) fn note_as(&mut self, sign: Sign, what: impl FnOnce() -> String) {
        self.history.note(self.now, &self.current.name, sign, what);
    }

    /// Decides whether a call goes wrong, and notes it.
    fn fault(&mut self, port: Lane, call: Call, what: impl FnOnce() -> String) -> Option<Fault> {
        let is_cut = self.is_cut(Lane::of(&self.current.name), port);
        let fault =
            if is_cut { Some(Fault::Failed) } else { self.rates.call(&mut self.chance, (port, call)) };
        self.faults += u64::from(fault.is_some());
        self.note_as(Sign::to(port).marked(Mark::of(fault)), || match fault {
            None => what(),
            Some(fault) => format!("{} — {fault:?}", what()),
        });
        fault
    }

    /// A thing goes wrong that many times of a thousand.
    pub(crate) fn goes_wrong(&mut self, permille: u32) -> bool {
        let wrong = self.chance.permille(permille);
        self.faults += u64::from(wrong);
        wrong
    }

    fn send(&mut self, request: Request<Body>, answer: u64) {
        let rate = self.rates.network;
        let path = request.uri().path().to_owned();
        let sign = Sign::to(Lane::Server);
        if self.is_cut(Lane::of(&self.current.name), Lane::Server) || self.goes_wrong(rate) {
            return self.note_as(sign.marked(Mark::Fault), || format!("{path} — the request is lost"));
        }
        self.note_as(sign, || path.clone());
        let is_answer_lost = self.goes_wrong(rate);
        let (request, by) = (Box::new(request), Lane::of(&self.current.name));
        self.spawn.push(Spawn::Request { request, path, asked: Asked { by, answer, is_answer_lost } });
    }
}
