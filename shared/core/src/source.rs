//! Sources, what was seen in them, and what the manifests say: the records that the `source` function keeps.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::{
    ClosureDigest, CommitId, DeliveryId, ManifestSetName, Revision, SourceName, StackId, StackName, TreeId,
};
use crate::manifest::Severity;
use crate::people::Identity;
use crate::record::{Index, IndexEntry, Key, Record};
use crate::schedule::DELIVERY_KEPT;
use crate::spec::{SourceSpec, StackSpec};
use crate::state_address::CodeBackend;
use crate::time::Timestamp;

/// A Git repository at a ref, and the last look at it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Its name.
    pub name: SourceName,
    /// Its settings.
    pub spec: SourceSpec,
    /// The set of manifests that holds it, and the snapshot it was taken from.
    pub set: ManifestSetName,
    /// Counts upwards with every commit found, whatever its place in history.
    pub observation: u64,
    /// What the last look that ended well found.
    pub seen: Option<Seen>,
    /// Counts changes of the definitions of stacks that lie in it.
    pub definitions: u64,
    /// The value of `definitions` that the last completed look took into account.
    pub definitions_seen: u64,
    /// Why the last look failed, if it did.
    pub failure: Option<SourceFailure>,
    /// When it is looked at next; `None` while it is suspended or gone.
    pub due: Option<Timestamp>,
    /// When it vanished from the manifests.
    pub vanished: Option<Timestamp>,
}

impl Record for Source {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::source(&self.name)
    }
    fn indexes(&self) -> Vec<IndexEntry> {
        let listed = self.vanished.is_none().then(|| IndexEntry::new(Index::Sources, self.name.to_string()));
        listed.into_iter().chain(self.due.map(|due| IndexEntry::at(Index::Due, due))).collect()
    }
}

/// A commit that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The revision.
    pub revision: Revision,
    /// Its tree.
    pub tree: TreeId,
    /// When it was found.
    pub at: Timestamp,
    /// The number of the look that found it and woke every stack it had to. A stack whose observation has a greater one
    /// may not have been woken yet.
    pub observation: u64,
}

/// Why a look at a source failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFailure {
    /// What happened, where, what to do.
    pub message: String,
    /// How many looks failed in a row.
    pub count: u32,
    /// When the first of them failed.
    pub since: Timestamp,
}

/// What Git holds for one stack. Written by `source`, numbered upwards; read when a run is decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// The stack.
    pub stack: StackId,
    /// The source.
    pub source: SourceName,
    /// The source's number for this look.
    pub number: u64,
    /// The commit.
    pub revision: Revision,
    /// The commit's tree; names the artifact.
    pub tree: TreeId,
    /// The stack's closure in that tree.
    pub closure: ClosureDigest,
    /// The directory that `backend` was read in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The backend that the code names there; the last one, while the code cannot be read.
    #[serde(default, skip_serializing_if = "CodeBackend::is_unseen")]
    pub backend: CodeBackend,
    /// What differs from the stack's observation before this one.
    pub changed: Vec<Reason>,
    /// How many differences there are in all; `changed` holds the first of them.
    pub changed_count: u32,
    /// Why this revision cannot be planned: missing path, module outside the repository, a submodule in the way.
    pub problems: Vec<String>,
    /// What is odd in the closure and stands against no plan: a file that is missing, a path outside the repository.
    #[serde(default)]
    pub notices: Vec<String>,
    /// The commit, for people.
    pub commit: CommitFacts,
    /// Who brought what the last observations found, oldest first; of what is older than twenty, together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub brought: Vec<Brought>,
    /// When it was written.
    pub at: Timestamp,
}

impl Record for Observation {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::observation(self.stack)
    }
}

impl Observation {
    /// Every author, committer and pusher of what came after an observation of the same source.
    pub fn authors_since(&self, number: u64) -> BTreeSet<Identity> {
        let newer = self.brought.iter().filter(|brought| brought.observation > number);
        newer.flat_map(|brought| brought.by.iter().cloned()).collect()
    }
}

/// Who brought what an observation found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brought {
    /// The observation's number.
    pub observation: u64,
    /// Every author and committer of the commits that are new in it, and whoever the host says pushed them.
    pub by: BTreeSet<Identity>,
}

/// A commit as people see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitFacts {
    /// Its id.
    pub id: CommitId,
    /// `Name <address>` of the author.
    pub author: String,
    /// The first line of its message.
    pub subject: String,
}

/// Why a run was made: one path, input or request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// A path of the closure changed.
    Path {
        /// The path in the repository.
        path: String,
        /// `added`, `changed`, `removed`; of a path that is there as before: `reached`, `left behind`.
        change: String,
        /// Why the path belongs to the stack: `stack directory`, `module ./modules/net, called from main.tf`.
        because: String,
    },
    /// The stack was not planned before.
    First,
    /// The manifest's settings changed.
    Settings,
    /// A secret or config map that the stack reads changed: `Secret default/vpc-outputs`.
    Values(String),
    /// Somebody asked: who, and for what.
    Asked(String),
    /// The interval came round, and `force` is set.
    Forced,
    /// Drift is put right.
    Remediation,
    /// A drifted run was approved.
    DriftApproved,
    /// The interval came round: reality is compared with Git.
    DriftCheck,
    /// A plan became stale before it was applied.
    Stale(String),
    /// A failed run is tried again.
    Retry,
}

impl fmt::Display for Reason {
    /// As people read it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Path { path, change, because } => {
                return write!(formatter, "{path} {change} ({because})");
            }
            Self::Values(name) => return write!(formatter, "{name} changed"),
            Self::Stale(why) => return write!(formatter, "the plan became stale: {why}"),
            Self::Asked(who) => who,
            Self::First => "planned for the first time",
            Self::Settings => "the manifest's settings changed",
            Self::Forced => "the interval came round, and force is set",
            Self::Remediation => "drift is put right",
            Self::DriftApproved => "drift was approved to be put right",
            Self::DriftCheck => "the interval came round: drift check",
            Self::Retry => "a failed run is tried again",
        })
    }
}

/// What the manifests say of a stack. Written by `source`, only upwards by snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The stack.
    pub stack: StackId,
    /// Its name.
    pub name: StackName,
    /// The set that holds it.
    pub set: ManifestSetName,
    /// The set's snapshot it was taken from.
    pub snapshot: u64,
    /// Its settings.
    pub spec: StackSpec,
    /// Where it stands: `flux/dev.yaml:12`.
    pub place: String,
    /// When it vanished from the manifests; it is kept and reported.
    pub vanished: Option<Timestamp>,
    /// Who wrote the manifest as it stands, where Git knows: decisions written in it count for them.
    pub author: Option<String>,
    /// How that is known: `pusher, verified by github`; `commit author, not verified`.
    #[serde(default)]
    pub author_known_by: Option<String>,
    /// The same by the name that the host vouches for, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_identity: Option<Identity>,
    /// What is wrong with its document as it stands now: these are its last good settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_back: Option<String>,
    /// Stacks that had vanished from the set when this name was new, with the same code and workspace and a state that the
    /// installation keeps: it may be one of them under a new name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_be: Vec<StackId>,
}

impl Record for Definition {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::definition(self.stack)
    }
}

/// A configured place of manifests, and the last snapshot that was taken over from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestSetRecord {
    /// Its name: what was given to `--manifests`.
    pub name: ManifestSetName,
    /// Counts upwards with every changed set of documents, from before the first of it is taken over.
    pub snapshot: u64,
    /// The last snapshot that was taken over whole. A stack whose definition has a greater one may not have been woken
    /// yet.
    pub taken: u64,
    /// Digest of the documents of the last snapshot that was taken over whole.
    pub digest: Option<String>,
    /// Versions of the config maps that it wrote and woke the readers of, by `namespace/name`.
    pub values: BTreeMap<String, String>,
    /// What is wrong with the documents as they stand, rendered for people.
    pub findings: Vec<String>,
    /// How many of each severity there are; `findings` holds the first of them.
    #[serde(default, skip_serializing_if = "FindingCounts::is_none")]
    pub found: FindingCounts,
    /// Why the last look failed, if it did.
    pub failure: Option<SourceFailure>,
    /// When it is looked at next.
    pub due: Option<Timestamp>,
}

impl Record for ManifestSetRecord {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::manifest_set(&self.name)
    }
    fn indexes(&self) -> Vec<IndexEntry> {
        [IndexEntry::new(Index::Manifests, self.name.to_string())]
            .into_iter()
            .chain(self.due.map(|due| IndexEntry::at(Index::Due, due)))
            .collect()
    }
}

/// How many findings there are of each severity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingCounts {
    /// Documents, or whatever refers to them, are held back.
    pub errors: u32,
    /// What is used will probably not do what its author wants.
    pub warnings: u32,
    /// What its author should know.
    pub notices: u32,
}

impl FindingCounts {
    /// Whether nothing was found.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Counts one more.
    pub fn count(&mut self, severity: Severity) {
        let count = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
            Severity::Notice => &mut self.notices,
        };
        *count = count.saturating_add(1);
    }
}

/// An accepted webhook delivery, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// `github`, `generic`.
    pub host: String,
    /// The kind of event: `push`, `ping`.
    pub event: String,
    /// The repository's URL as the payload names it.
    pub repository: String,
    /// The ref that moved.
    pub reference: Option<String>,
    /// When it came.
    pub at: Timestamp,
    /// Who pushed, as the host says whose signature was verified.
    #[serde(default)]
    pub pusher: Option<String>,
    /// The commit that the ref was moved to.
    #[serde(default)]
    pub commit: Option<CommitId>,
    /// What became of it, for people; `None` until its source was looked at.
    pub outcome: Option<String>,
}

impl Record for Delivery {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::delivery(&self.id.0)
    }
    fn indexes(&self) -> Vec<IndexEntry> {
        vec![IndexEntry::at(Index::Expires, self.at + DELIVERY_KEPT)]
    }
}
