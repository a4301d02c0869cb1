//! What both phases share: the claimed job, its work directory, its log, its engine.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use yuba_core::attempt::Progress;
use yuba_core::id::Phase;
use yuba_core::job::Job;
use yuba_core::plan::stream::{Diagnostic, EngineEvent, parse_line};
use yuba_core::task::{ClaimAnswer, CredentialsAnswer, HostCredentials, Lease, ObjectAccess, ResolvedValue};

use crate::classify;
use crate::ended::{Ended, Step};
use crate::endpoint::CredentialEndpoint;
use crate::engine::descendants::Processes;
use crate::engine::{Exit, Found, Manner, Place, text};
use crate::interrupt::Interrupt;
use crate::log::Log;
use crate::objects::Objects;
use crate::settings::{Settings, inherited_apart};
use crate::user::EngineUser;

/// How long after a plan was interrupted it is interrupted again. Tasks that are told to stop are killed after a while (two
/// minutes at most on Fargate): that leaves it time to let go of its lock.
const REMINDER: Duration = Duration::from_secs(30);

/// A claimed attempt.
#[derive(Debug)]
pub(crate) struct Attempt {
    /// What is to be done.
    pub(crate) job: Job,
    /// What came with the claim and is never stored.
    pub(crate) values: Vec<ResolvedValue>,
    /// Where objects lie.
    pub(crate) objects: Objects,
    /// The log.
    pub(crate) log: Log,
    /// How far it is.
    pub(crate) progress: Track,
    /// What ends it before its time.
    pub(crate) interrupt: Interrupt,
    /// How long the engine may take to end once it is interrupted.
    pub(crate) patience: Duration,
    /// What this process runs beside the attempt.
    pub(crate) processes: Processes,
    /// What opens the hosts of modules and providers.
    pub(crate) hosts: Vec<HostCredentials>,
    /// Whom the engine runs as.
    pub(crate) user: EngineUser,
    /// How long its credentials hold.
    pub(crate) lease: Option<Lease>,
    /// Where the engine finds those of the role, where they end.
    endpoint: Option<CredentialEndpoint>,
    /// The task's directory.
    pub(crate) work: PathBuf,
    /// The engine's environment: ambient, and the credentials of the role.
    pub(crate) environment: BTreeMap<String, String>,
    /// The installation's state file for this stack.
    pub(crate) local_state: Option<String>,
    /// The installation's providers.
    pub(crate) provider_cache: Option<PathBuf>,
    /// Key of the HMAC in the inputs digest.
    pub(crate) digest_key: String,
}

impl Attempt {
    /// An attempt as it was claimed.
    pub(crate) fn new(claim: ClaimAnswer, settings: &Settings, interrupt: Interrupt) -> Step<Self> {
        let user = EngineUser::of(claim.job.attempt, settings.isolation, &settings.work)?;
        let objects = Objects::new(&claim.objects, settings.buckets, &settings.work)?;
        let mut secrets = secrets_of(&claim.credentials, &claim.objects);
        let values = claim.values.iter().filter(|value| value.secret);
        secrets.extend(values.map(|value| value.value.clone()));
        let of_hosts = claim.hosts.iter().flat_map(|host| &host.values);
        let hidden = of_hosts.filter(|(key, _)| !SHOWN.contains(&key.as_str()));
        secrets.extend(hidden.map(|(_, value)| value.clone()));
        let ambient = settings.ambient.clone();
        let mut environment = if user == EngineUser::Ours { ambient } else { inherited_apart(ambient) };
        let mut credentials = claim.credentials;
        let endpoint = CredentialEndpoint::instead_of(&mut credentials, claim.lease)?;
        environment.extend(credentials);
        let found_at: Vec<_> = endpoint.iter().flat_map(CredentialEndpoint::environment).collect();
        secrets.extend(found_at.iter().map(|(_, value)| value.clone()));
        environment.extend(found_at);
        Ok(Self {
            log: Log::new(objects.clone(), claim.job.prefix(), secrets, claim.job.spec.redact.clone())?,
            job: claim.job,
            values: claim.values,
            objects,
            progress: Track::new(),
            interrupt,
            patience: settings.patience,
            processes: settings.processes,
            hosts: claim.hosts,
            user,
            lease: claim.lease,
            endpoint,
            work: settings.work.clone(),
            environment,
            local_state: claim.local_state,
            provider_cache: claim.provider_cache.map(PathBuf::from),
            digest_key: claim.digest_key,
        })
    }

    /// Goes on with new credentials.
    pub(crate) fn renew(&self, answer: &CredentialsAnswer) -> Step<()> {
        self.log.learn(secrets_of(&answer.credentials, &answer.objects))?;
        self.objects.renew(&answer.objects);
        if let (Some(endpoint), Some(lease)) = (&self.endpoint, answer.lease) {
            endpoint.renew(&answer.credentials, lease);
        }
        Ok(())
    }

    /// The name of one of the attempt's objects.
    pub(crate) fn object(&self, name: &str) -> String {
        format!("{}{name}", self.job.prefix())
    }
}

/// Keys of hosts' secrets whose values are none.
const SHOWN: [&str; 4] = ["username", "known_hosts", "ca.crt", "caFile"];

/// What must not be shown.
fn secrets_of(credentials: &BTreeMap<String, String>, objects: &ObjectAccess) -> BTreeSet<String> {
    let own = match objects {
        ObjectAccess::Bucket(access) => Some(&access.credentials),
        ObjectAccess::Directory { .. } => None,
    };
    credentials.values().chain(own.into_iter().flat_map(BTreeMap::values)).cloned().collect()
}

/// The engine of an attempt, in its place.
#[derive(Debug)]
pub(crate) struct Engine<'a> {
    /// Which.
    pub(crate) found: Found,
    /// Where it runs.
    pub(crate) place: Place,
    /// Whose.
    pub(crate) attempt: &'a Attempt,
}

/// What a JSON command said.
#[derive(Debug)]
pub(crate) struct Said {
    /// How it ended.
    pub(crate) exit: Exit,
    /// Its diagnostics.
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The engine's version.
    pub(crate) version: Option<String>,
}

impl Engine<'_> {
    /// Runs a command that writes text; a failure is classified.
    pub(crate) async fn text<A: AsRef<OsStr>>(&self, step: &str, arguments: &[A]) -> Step<()> {
        self.attempt.progress.step(step);
        let log = &self.attempt.log;
        let exit = self.place.run(arguments, |line| log.line(line)).await?;
        if !exit.stderr.is_empty() {
            log.line(&exit.stderr);
        }
        self.not_interrupted(&exit)?;
        classify::check(&exit, &text::read_text(&exit.stderr), step)
    }

    /// Runs a command that writes JSON lines. It may end with any exit code.
    pub(crate) async fn json(&self, step: &str, arguments: &[OsString]) -> Step<Said> {
        self.attempt.progress.step(step);
        let (log, progress) = (&self.attempt.log, &self.attempt.progress);
        let (mut diagnostics, mut version) = (Vec::new(), None);
        let acts = Arc::<Notify>::default();
        let manner = match self.attempt.job.attempt.phase {
            Phase::Plan => Manner::Again(REMINDER),
            Phase::Apply => Manner::WhenItActs(acts.clone()),
        };
        let line = |line: &str| {
            let line = parse_line(line);
            log.line(&line.text);
            match line.event {
                EngineEvent::Version(found) => version = Some(found),
                EngineEvent::Diagnosed(diagnostic) => diagnostics.push(diagnostic),
                EngineEvent::Started(address) => {
                    acts.notify_one();
                    progress.began(address);
                }
                EngineEvent::Read(address) => progress.left(&address),
                EngineEvent::Done(address) => progress.done(&address),
                EngineEvent::Other => {}
            }
        };
        let exit = self.place.run_in(manner, arguments, line).await?;
        if !exit.stderr.is_empty() {
            log.line(&exit.stderr);
            diagnostics.extend(text::read_text(&exit.stderr));
        }
        Ok(Said { exit, diagnostics, version })
    }

    /// An interrupted command that did not end well ended because of the interrupt.
    pub(crate) fn not_interrupted(&self, exit: &Exit) -> Step<()> {
        let ended_well = matches!(exit.code, Some(0 | 2));
        if !ended_well && self.attempt.interrupt.reason().is_some() {
            Err(Ended::Interrupted)
        } else {
            Ok(())
        }
    }
}

/// How far an attempt is. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Track(Arc<Mutex<Progress>>);

impl Track {
    fn new() -> Self {
        let progress = Progress { step: "claim".to_owned(), done: 0, total: None, current: None };
        Self(Arc::new(Mutex::new(progress)))
    }

    /// A step begins.
    pub(crate) fn step(&self, name: &str) {
        self.change(|progress| {
            *progress = Progress { step: name.to_owned(), current: None, ..progress.clone() }
        });
    }

    /// How many resources there are in all.
    pub(crate) fn total(&self, total: u32) {
        self.change(|progress| progress.total = Some(total));
    }

    fn began(&self, address: String) {
        self.change(|progress| progress.current = Some(address));
    }

    fn done(&self, address: &str) {
        self.change(|progress| progress.done += 1);
        self.left(address);
    }

    fn left(&self, address: &str) {
        self.change(|progress| drop(progress.current.take_if(|current| current == address)));
    }

    /// How far it is.
    pub(crate) fn now(&self) -> Progress {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, change: impl FnOnce(&mut Progress)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
