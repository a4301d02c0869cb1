//! Verified bodies as facts: which repository's reference moved.

use std::collections::BTreeSet;

use http::HeaderMap;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use yuba_core::id::{CommitId, DeliveryId};

use super::address::RepositoryAddress;
use super::verify::{Scheme, Verified};

/// What a delivery says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A reference moved.
    Push(Push),
    /// The host tries out the webhook.
    Ping {
        /// The delivery.
        delivery: DeliveryId,
        /// The repository the webhook belongs to; none for an organisation's.
        repositories: Repositories,
    },
    /// Something that wakes nothing.
    Ignored {
        /// The delivery.
        delivery: DeliveryId,
        /// The event as the host calls it.
        event: String,
        /// Why it wakes nothing, for the webhook's log.
        reason: String,
    },
}

/// A reference that moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    /// The delivery.
    pub delivery: DeliveryId,
    /// Whose reference it is.
    pub repositories: Repositories,
    /// Its full name, `refs/heads/main`; the generic endpoint may leave it out, which means any.
    pub reference: Option<String>,
    /// How it moved.
    pub change: RefChange,
    /// The commit it led to; none where it is new.
    pub before: Option<CommitId>,
    /// The commit it leads to; none where it is deleted.
    pub after: Option<CommitId>,
    /// Who pushed, as the host has verified.
    pub pusher: Option<String>,
    /// The newest commit, where the host tells of it.
    pub head_commit: Option<HeadCommit>,
}

/// How a reference moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefChange {
    /// It is new.
    Created,
    /// It is gone.
    Deleted,
    /// To a commit that does not descend from the former one.
    Forced,
    /// Forwards, as far as is known.
    Moved,
}

/// Which sources a delivery is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repositories {
    /// The sources whose URL has one of these addresses.
    Named(BTreeSet<RepositoryAddress>),
    /// Every source that this endpoint serves.
    Any,
}

impl Repositories {
    /// Whether a source at this URL is meant.
    pub fn include(&self, url: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Named(addresses) => {
                RepositoryAddress::of(url).is_some_and(|address| addresses.contains(&address))
            }
        }
    }

    fn of<'a>(urls: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        let addresses: BTreeSet<_> = urls.into_iter().flatten().filter_map(RepositoryAddress::of).collect();
        if addresses.is_empty() { Self::Any } else { Self::Named(addresses) }
    }
}

/// The newest commit of a push.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadCommit {
    /// Its id.
    pub id: CommitId,
    /// The first line of its message.
    pub subject: String,
    /// Its author's name, not proven by anything.
    pub author: Option<String>,
}

/// Why a verified body cannot be read (400).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// It ends in the middle.
    #[error("the body is cut off: it ends at byte {offset} in the middle of its JSON; send it again")]
    CutOff {
        /// The number of bytes that came.
        offset: usize,
    },
    /// It is not JSON.
    #[error("the body is not JSON at byte {offset}: {reason}")]
    NotJson {
        /// The byte where reading stopped.
        offset: usize,
        /// What was wrong there.
        reason: String,
    },
    /// It is a form.
    #[error("the body is a form; set the webhook's content type to `application/json`")]
    Form,
    /// It lacks what the event must have.
    #[error("the body is not a {event} event: {reason} at byte {offset}")]
    Shape {
        /// The event.
        event: String,
        /// The byte where reading stopped.
        offset: usize,
        /// What was wrong there.
        reason: String,
    },
    /// The header that names the event is missing.
    #[error("header {header} is missing: it names the event")]
    NoEvent {
        /// The header.
        header: &'static str,
    },
}

/// Reads a verified body.
pub fn parse<Body: AsRef<[u8]>>(
    headers: &HeaderMap,
    verified: &Verified<Body>,
) -> Result<Notice, ParseError> {
    let body = verified.body().as_ref();
    match verified.scheme() {
        Scheme::GitHub => parse_hosted(headers, body, ("x-github-event", "x-github-delivery")),
        Scheme::Gitea => parse_hosted(headers, body, ("x-gitea-event", "x-gitea-delivery")),
        Scheme::Generic => parse_generic(headers, body),
    }
}

#[derive(Deserialize)]
struct WirePush {
    #[serde(rename = "ref")]
    reference: String,
    before: Option<String>,
    after: Option<String>,
    #[serde(default)]
    created: bool,
    #[serde(default)]
    deleted: bool,
    #[serde(default)]
    forced: bool,
    repository: WireRepository,
    pusher: Option<WirePusher>,
    head_commit: Option<WireCommit>,
}

#[derive(Deserialize)]
struct WirePing {
    repository: Option<WireRepository>,
}

#[derive(Deserialize)]
struct WireRepository {
    #[serde(rename = "clone_url")]
    clone: Option<String>,
    #[serde(rename = "ssh_url")]
    ssh: Option<String>,
    #[serde(rename = "git_url")]
    git: Option<String>,
    #[serde(rename = "html_url")]
    html: Option<String>,
}

/// GitHub names a pusher by `name`, Gitea by `login`.
#[derive(Deserialize)]
struct WirePusher {
    name: Option<String>,
    login: Option<String>,
}

#[derive(Deserialize)]
struct WireCommit {
    id: String,
    #[serde(default)]
    message: String,
    author: Option<WirePusher>,
}

#[derive(Deserialize)]
struct WireGeneric {
    url: Option<String>,
    #[serde(rename = "ref")]
    reference: Option<String>,
    before: Option<String>,
    after: Option<String>,
    pusher: Option<String>,
}

impl WireRepository {
    fn repositories(&self) -> Repositories {
        let urls = [&self.clone, &self.ssh, &self.git, &self.html];
        Repositories::of(urls.map(Option::as_deref))
    }
}

fn parse_hosted(
    headers: &HeaderMap,
    body: &[u8],
    (event_header, delivery_header): (&'static str, &'static str),
) -> Result<Notice, ParseError> {
    let event = text(headers, event_header).ok_or(ParseError::NoEvent { header: event_header })?;
    let delivery = delivery(headers, delivery_header, body);
    match event {
        "push" => Ok(Notice::Push(push(read(body, event)?, delivery))),
        "ping" => {
            let ping: WirePing = read(body, event)?;
            let repositories = Repositories::of([]);
            let repositories = ping.repository.map_or(repositories, |repository| repository.repositories());
            Ok(Notice::Ping { delivery, repositories })
        }
        other => {
            // Also an event that is not acted on must be whole, else the sender would not learn of its fault.
            let _: serde::de::IgnoredAny = read(body, other)?;
            Ok(Notice::Ignored { delivery, event: other.to_owned(), reason: why_ignored(other).to_owned() })
        }
    }
}

fn why_ignored(event: &str) -> &'static str {
    match event {
        "create" | "delete" => "a branch or tag that appears or vanishes also comes as a push",
        "pull_request" | "pull_request_review" | "pull_request_review_comment" | "issue_comment" => {
            "pull requests are not acted on yet"
        }
        "merge_group" | "check_run" | "check_suite" => "merge queues and checks are not acted on yet",
        "installation" | "installation_repositories" | "repository" => {
            "which repositories are watched stands in the manifests"
        }
        _ => "it moves no reference; only push events wake sources",
    }
}

fn push(wire: WirePush, delivery: DeliveryId) -> Push {
    let (before, after) = (commit(wire.before.as_deref()), commit(wire.after.as_deref()));
    let change = match (wire.created, wire.deleted, wire.forced) {
        (_, true, _) => RefChange::Deleted,
        (true, ..) => RefChange::Created,
        (_, _, true) => RefChange::Forced,
        _ => change_of(before.as_ref(), after.as_ref(), wire.before.is_some()),
    };
    let head_commit = wire.head_commit.and_then(|head| {
        let author = head.author.and_then(|author| author.name);
        let subject = head.message.lines().next().unwrap_or_default().to_owned();
        Some(HeadCommit { id: head.id.parse().ok()?, subject, author })
    });
    Push {
        delivery,
        repositories: wire.repository.repositories(),
        reference: Some(wire.reference),
        change,
        before,
        after,
        pusher: wire.pusher.and_then(|pusher| pusher.login.or(pusher.name)),
        head_commit,
    }
}

fn change_of(before: Option<&CommitId>, after: Option<&CommitId>, known: bool) -> RefChange {
    match (before, after) {
        (Some(_), None) => RefChange::Deleted,
        (None, Some(_)) if known => RefChange::Created,
        _ => RefChange::Moved,
    }
}

fn parse_generic(headers: &HeaderMap, body: &[u8]) -> Result<Notice, ParseError> {
    let delivery = delivery(headers, "x-yuba-delivery", body);
    let body = if body.trim_ascii().is_empty() { b"{}" } else { body };
    let wire: WireGeneric = read(body, "generic")?;
    let (before, after) = (commit(wire.before.as_deref()), commit(wire.after.as_deref()));
    let known = wire.before.is_some() && wire.after.is_some();
    Ok(Notice::Push(Push {
        delivery,
        repositories: Repositories::of([wire.url.as_deref()]),
        reference: wire.reference.filter(|reference| !reference.is_empty()),
        change: if known { change_of(before.as_ref(), after.as_ref(), known) } else { RefChange::Moved },
        before,
        after,
        pusher: wire.pusher,
        head_commit: None,
    }))
}

/// Zeros mean "none"; a text that is no id is none, since a message only wakes.
fn commit(text: Option<&str>) -> Option<CommitId> {
    text.filter(|text| text.bytes().any(|digit| digit != b'0')).and_then(|text| text.parse().ok())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The sender's number of the delivery, or a digest of its body.
fn delivery(headers: &HeaderMap, header: &str, body: &[u8]) -> DeliveryId {
    let numbered = text(headers, header).map(str::to_owned);
    DeliveryId(numbered.unwrap_or_else(|| format!("sha256:{}", hex::encode(Sha256::digest(body)))))
}

fn read<'de, T: Deserialize<'de>>(body: &'de [u8], event: &str) -> Result<T, ParseError> {
    serde_json::from_slice(body).map_err(|error| {
        let offset = offset(body, error.line(), error.column());
        match error.classify() {
            serde_json::error::Category::Eof => ParseError::CutOff { offset: body.len() },
            _ if body.starts_with(b"payload=") => ParseError::Form,
            serde_json::error::Category::Data => {
                ParseError::Shape { event: event.to_owned(), offset, reason: bare(&error) }
            }
            _ => ParseError::NotJson { offset, reason: bare(&error) },
        }
    })
}

/// The message without the position, which is said in bytes.
fn bare(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(message, _)| message.to_owned())
}

/// The byte at a line and column, both counted from 1 as serde_json does.
fn offset(body: &[u8], line: usize, column: usize) -> usize {
    let lines = body.split_inclusive(|byte| *byte == b'\n').take(line.saturating_sub(1));
    lines.map(<[u8]>::len).sum::<usize>() + column.saturating_sub(1)
}
