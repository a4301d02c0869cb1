//! What a task and the `tasks` function say to each other, over HTTPS. JSON; every body carries its `schema`.
//!
//! `POST /tasks/claim` with the single-use token → [`ClaimAnswer`]; `POST /tasks/heartbeat`, `POST /tasks/credentials` and
//! `POST /tasks/report` with the claim token. 401: the token is not one; 409: the attempt was claimed, reported or closed: act no more.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::attempt::{AttemptReport, Progress};
use crate::id::{AttemptId, FileDigest};
use crate::job::Job;
use crate::time::{Span, Timestamp};

/// Body of `POST /tasks/claim`; the token is in the `Authorization: Bearer` header.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimRequest {
    /// Of the wire form; now 1.
    pub schema: u32,
    /// The attempt it claims.
    pub attempt: AttemptId,
}

/// Answer to an accepted claim.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ClaimAnswer {
    /// Of the wire form; now 1.
    pub schema: u32,
    /// What is to be done.
    pub job: Job,
    /// Authorises heartbeats and the report of this attempt.
    pub claim_token: String,
    /// The resolved `varsFrom` values, in order, after key mapping: later ones win. Never stored.
    pub values: Vec<ResolvedValue>,
    /// Environment variables that hold the stack's role. Never stored.
    pub credentials: BTreeMap<String, String>,
    /// What opens the hosts that modules and providers come from. Never stored.
    #[serde(default)]
    pub hosts: Vec<HostCredentials>,
    /// Where objects lie.
    pub objects: ObjectAccess,
    /// How long `credentials` and those of `objects` hold; `None` where they do not end.
    #[serde(default)]
    pub lease: Option<Lease>,
    /// Key of the HMAC under which secret values enter the inputs digest, hexadecimal.
    pub digest_key: String,
    /// The path of the state file for a stack without a named backend, where the installation keeps one.
    pub local_state: Option<String>,
    /// Where downloaded providers are kept between attempts, where the installation has such a place.
    pub provider_cache: Option<String>,
}

/// What opens a host.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCredentials {
    /// The host as URLs name it.
    pub host: String,
    /// The values of its secret, by key.
    pub values: BTreeMap<String, String>,
}

impl std::fmt::Debug for HostCredentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("HostCredentials").field("host", &self.host).finish_non_exhaustive()
    }
}

/// How long credentials hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// When the first of them ends.
    pub expire: Timestamp,
    /// How long after the answer new ones are to be asked for.
    pub renew_after: Span,
}

impl Lease {
    /// The lease of credentials that end at these points; `None` where none ends. They are renewed when a quarter of their
    /// time is left: clients of AWS do without credentials of which less than 15 minutes are left, out of an hour.
    pub fn until(ends: &[Option<Timestamp>], now: Timestamp) -> Option<Self> {
        let expire = ends.iter().copied().flatten().min()?;
        Some(Self { expire, renew_after: Span(expire.since(now).0 / 4 * 3) })
    }
}

/// Body of `POST /tasks/credentials`, for a claimed attempt that outlives its first credentials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CredentialsRequest {
    /// Of the wire form; now 1.
    pub schema: u32,
    /// The attempt.
    pub attempt: AttemptId,
}

/// Answer to it: what the claim's answer held, anew. Never stored.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CredentialsAnswer {
    /// Of the wire form; now 1.
    pub schema: u32,
    /// Environment variables that hold the stack's role.
    pub credentials: BTreeMap<String, String>,
    /// Where objects lie.
    pub objects: ObjectAccess,
    /// How long they hold.
    pub lease: Option<Lease>,
}

/// One variable read from a secret or config map.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedValue {
    /// The variable's name.
    pub name: String,
    /// Its value; always a string, as tofu-controller has it.
    pub value: String,
    /// Whether it must be masked wherever it could be shown.
    pub secret: bool,
}

impl std::fmt::Debug for ResolvedValue {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ResolvedValue").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Where a task reads and writes its objects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectAccess {
    /// A directory on the same machine.
    Directory {
        /// Its path.
        path: String,
    },
    /// A bucket, of which the task reaches its own objects alone.
    Bucket(BucketAccess),
}

/// A bucket of S3, and credentials for an attempt's own objects in it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BucketAccess {
    /// Its name.
    pub bucket: String,
    /// The region that it is in.
    pub region: String,
    /// Where the service is reached, if not at its usual address.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// What the names of all objects in it begin with; it ends with `/`.
    pub root: String,
    /// The key that objects are encrypted under; `None` leaves it to the bucket.
    pub key: Option<String>,
    /// Environment variables that hold the credentials. They end within the hour. Never stored.
    pub credentials: BTreeMap<String, String>,
    /// When they end, where that is known.
    #[serde(default)]
    pub expire: Option<Timestamp>,
}

impl std::fmt::Debug for BucketAccess {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { bucket, root, .. } = self;
        formatter
            .debug_struct("BucketAccess")
            .field("bucket", bucket)
            .field("root", root)
            .finish_non_exhaustive()
    }
}

/// Body of `POST /tasks/heartbeat`, every two seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Of the wire form; now 1.
    pub schema: u32,
    /// The attempt.
    pub attempt: AttemptId,
    /// How far it is.
    pub progress: Option<Progress>,
}

/// Answer to a heartbeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatAnswer {
    /// Of the wire form; now 1.
    pub schema: u32,
    /// Why the task is to stop, if it is: it interrupts the engine once, waits until that has saved its state, reports.
    pub stop: Option<String>,
}

/// Body of `POST /tasks/report`. Accepted once; the same report again is accepted as done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportRequest {
    /// Of the wire form; now 1.
    pub schema: u32,
    /// The attempt.
    pub attempt: AttemptId,
    /// What came of it.
    pub report: AttemptReport,
}

/// Whether engines run as users of their own, whom nobody else on the machine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// Where the runner is root.
    #[default]
    WhereRoot,
    /// Never: code from Git runs as the runner does.
    Never,
    /// Always: a runner that is not root refuses.
    Always,
}

/// The first of the users of attempts, and how many there are: numbers that systems leave unused
/// (<https://systemd.io/UIDS-GIDS>).
pub const ENGINE_USERS: (u32, u32) = (0x7000_0000, 0x1000_0000);

/// The number of the user that an attempt's engine runs as, where it is isolated. Two attempts get the same one once in 268
/// million times.
pub fn engine_user(attempt: AttemptId) -> u32 {
    let (first, count) = ENGINE_USERS;
    let [a, b, c, d, ..] = FileDigest::of(attempt.to_string().as_bytes()).0;
    first + u32::from_be_bytes([a, b, c, d]) % count
}

/// The settings of `yuba runner`, as the launcher hands them over in the environment.
pub mod environment {
    /// Where `tasks` is reached: `http://127.0.0.1:8420`.
    pub const URL: &str = "YUBA_TASKS_URL";
    /// A file that holds that URL and is read anew before every request, for a server that may come back elsewhere.
    pub const URL_FILE: &str = "YUBA_TASKS_URL_FILE";
    /// The single-use token.
    pub const TOKEN: &str = "YUBA_TASK_TOKEN";
    /// The attempt's id.
    pub const ATTEMPT: &str = "YUBA_ATTEMPT";
    /// A directory that the task may use; its work directory lies at a path below it that apply finds again.
    pub const WORK: &str = "YUBA_WORK";
    /// `never` runs the engine as the runner's own user, also where that is root.
    pub const ISOLATION: &str = "YUBA_ISOLATION";
    /// How long an engine that was interrupted may take to save its state before it is killed, as a duration (`90s`); 15
    /// minutes where nothing is said. What starts tasks hands it on.
    pub const KILL_AFTER: &str = "YUBA_KILL_AFTER";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_attempt_has_a_user_of_its_own() {
        let user = |attempt: &str| engine_user(attempt.parse().unwrap());
        let plan = user("01ARZ3NDEKTSV4RRFFQ69G5FAV-plan-1");
        assert_ne!(plan, user("01ARZ3NDEKTSV4RRFFQ69G5FAV-plan-2"));
        assert_ne!(plan, user("01ARZ3NDEKTSV4RRFFQ69G5FAV-apply-1"));
        assert!((0x7000_0000..0x8000_0000).contains(&plan), "{plan}");
    }

    #[test]
    fn credentials_are_renewed_while_a_quarter_of_the_time_of_the_shortest_is_left() {
        let now = Timestamp(1_000_000);
        let hour = now + Span::hours(1);
        let lease = |ends: &[Option<Timestamp>]| Lease::until(ends, now);
        let expected = Lease { expire: hour, renew_after: Span::minutes(45) };
        assert_eq!(lease(&[None, Some(hour), Some(hour + Span::minutes(1))]), Some(expected));
        assert_eq!(lease(&[None, None]), None);
        assert_eq!(lease(&[Some(Timestamp(1))]).map(|lease| lease.renew_after), Some(Span::ZERO), "at once");
    }
}
