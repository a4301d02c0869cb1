//! How records lie in a store: a key, a version that counts every write, a JSON body with a `schema` number, and the
//! few index entries that let them be found. One table serves all; a partition holds what one decision needs.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::audit::{AUDIT, AUDIT_ANCHORS, AuditHead};
use crate::id::{
    AttemptId, AuditChain, InputsDigest, ManifestSetName, ObjectName, RequestId, RunId, SecretName,
    SourceName, StackId, StackName,
};
use crate::time::Timestamp;

/// Where a record lies. Records of one partition can be listed in the order of `sort`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// What belongs together: `stack#<id>`, `source#<namespace>/<name>`, …
    pub partition: String,
    /// The record within it: `stack`, `run#<id>`, …
    pub sort: String,
}

impl Key {
    /// A key of any partition and sort.
    pub fn new(partition: impl Into<String>, sort: impl Into<String>) -> Self {
        Self { partition: partition.into(), sort: sort.into() }
    }

    /// The one [`crate::stack::Stack`] record.
    pub fn stack(stack: StackId) -> Self {
        Self::new(stack_partition(stack), "stack")
    }

    /// What the manifests say of a stack.
    pub fn definition(stack: StackId) -> Self {
        Self::new(stack_partition(stack), "definition")
    }

    /// What Git holds for a stack.
    pub fn observation(stack: StackId) -> Self {
        Self::new(stack_partition(stack), "observation")
    }

    /// A run of a stack.
    pub fn run(stack: StackId, run: RunId) -> Self {
        Self::new(stack_partition(stack), format!("run#{run}"))
    }

    /// An attempt. It lies under its own id alone, because that is all a task knows.
    pub fn attempt(attempt: AttemptId) -> Self {
        Self::new(format!("attempt#{attempt}"), "attempt")
    }

    /// Which stack a name means.
    pub fn stack_name(name: &StackName) -> Self {
        Self::new(format!("name#{name}"), "stack")
    }

    /// That a stack waits for another.
    pub fn dependant(dependency: &StackName, stack: StackId) -> Self {
        Self::new(dependants_partition(dependency), stack.to_string())
    }

    /// That a stack reads a secret or config map.
    pub fn reader(values: &SecretName, stack: StackId) -> Self {
        Self::new(readers_partition(values), stack.to_string())
    }

    /// That a stack's last failure belongs to a trouble.
    pub fn trouble(signature: &str, stack: StackId) -> Self {
        Self::new(trouble_partition(signature), stack.to_string())
    }

    /// That notice of a trouble was given.
    pub fn trouble_notice(signature: &str) -> Self {
        Self::new(format!("trouble-notice#{signature}"), "notice")
    }

    /// A source.
    pub fn source(source: &SourceName) -> Self {
        Self::new(source_partition(source), "source")
    }

    /// That a stack's code lies in a source.
    pub fn source_stack(source: &SourceName, stack: StackId) -> Self {
        Self::new(source_partition(source), format!("stack#{stack}"))
    }

    /// A configured place of manifests.
    pub fn manifest_set(set: &ManifestSetName) -> Self {
        Self::new(manifests_partition(set), "set")
    }

    /// That a set of manifests holds, or held, a stack.
    pub fn set_stack(set: &ManifestSetName, stack: StackId) -> Self {
        Self::new(manifests_partition(set), format!("stack#{stack}"))
    }

    /// That a stack names a state; others that name the same lie beside it.
    pub fn state(address: InputsDigest, stack: StackId) -> Self {
        Self::new(state_partition(address), format!("stack#{stack}"))
    }

    /// A request of a person or program.
    pub fn request(request: RequestId) -> Self {
        Self::new(format!("request#{request}"), "request")
    }

    /// A webhook delivery; `id` is the sender's number for it.
    pub fn delivery(id: &str) -> Self {
        Self::new(format!("delivery#{id}"), "delivery")
    }

    /// An event of a stack, ordered by its number.
    pub fn event(stack: StackId, number: u64) -> Self {
        Self::new(format!("events#{stack}"), format!("{number:012}"))
    }

    /// An entry of the audit trail, ordered by chain and number.
    pub fn audit_entry(chain: AuditChain, number: u64) -> Self {
        Self::new(AUDIT, format!("{chain}#{number:012}"))
    }

    /// An anchor of the audit trail, ordered by its number.
    pub fn audit_anchor(number: u64) -> Self {
        Self::new(AUDIT_ANCHORS, format!("{number:012}"))
    }

    /// A team.
    pub fn team(team: &ObjectName) -> Self {
        Self::new(TEAMS, format!("team#{team}"))
    }

    /// How often teams changed.
    pub fn roster() -> Self {
        Self::new(TEAMS, "roster")
    }

    /// A token for the API.
    pub fn api_token(token: crate::id::ApiTokenId) -> Self {
        Self::new(crate::access::TOKENS, format!("token#{token}"))
    }

    /// The installation's own record: paused or not.
    pub fn installation() -> Self {
        Self::new("installation", "installation")
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.partition, self.sort)
    }
}

/// The partition of all teams; their sort keys start with `team#`.
pub const TEAMS: &str = "teams";

/// The partition of everything that a decision about a stack reads.
pub fn stack_partition(stack: StackId) -> String {
    format!("stack#{stack}")
}

/// The partition of a source and of the stacks that lie in it.
pub fn source_partition(source: &SourceName) -> String {
    format!("source#{source}")
}

/// The partition of a set of manifests and of the stacks that it holds or held.
pub fn manifests_partition(set: &ManifestSetName) -> String {
    format!("manifests#{set}")
}

/// The partition of the stacks that name a state.
pub fn state_partition(address: InputsDigest) -> String {
    format!("state#{address}")
}

/// The partition of the stacks that wait for a stack.
pub fn dependants_partition(dependency: &StackName) -> String {
    format!("dependants#{dependency}")
}

/// The partition of the stacks that have one trouble.
pub fn trouble_partition(signature: &str) -> String {
    format!("trouble#{signature}")
}

/// The partition of the stacks that read a secret or config map.
pub fn readers_partition(values: &SecretName) -> String {
    format!("readers#{values}")
}

/// An entry of a sparse index: records are found by the index's name, in the order of `value`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct IndexEntry {
    /// The index.
    pub index: Index,
    /// What it is ordered by.
    pub value: String,
}

/// The indexes that records are found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Index {
    /// What must be looked at, by when.
    Due,
    /// All stacks, by name.
    Stacks,
    /// All sources, by name.
    Sources,
    /// All places of manifests, by name.
    Manifests,
    /// All runs, by id (so by time).
    Runs,
    /// All events, by time.
    Events,
    /// What may be forgotten, by when.
    Expires,
    /// Stacks with effects still to do, by the oldest one's time.
    Effects,
}

impl Index {
    /// All there are.
    pub const ALL: [Self; 8] = [
        Self::Due,
        Self::Stacks,
        Self::Sources,
        Self::Manifests,
        Self::Runs,
        Self::Events,
        Self::Expires,
        Self::Effects,
    ];

    /// Its name in a store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Due => "due",
            Self::Stacks => "stacks",
            Self::Sources => "sources",
            Self::Manifests => "manifests",
            Self::Runs => "runs",
            Self::Events => "events",
            Self::Expires => "expires",
            Self::Effects => "effects",
        }
    }
}

impl IndexEntry {
    /// An entry ordered by a text.
    pub fn new(index: Index, value: impl Into<String>) -> Self {
        Self { index, value: value.into() }
    }

    /// An entry ordered by a point in time.
    pub fn at(index: Index, at: Timestamp) -> Self {
        Self::new(index, sortable(at))
    }
}

/// A point in time as a text that sorts as time does.
pub fn sortable(at: Timestamp) -> String {
    format!("{:015}", at.0.max(0))
}

/// A value that is stored as a record.
pub trait Record: Serialize + DeserializeOwned {
    /// The `schema` number that this code writes; it reads this one and the one before.
    const SCHEMA: u32;

    /// Where it lies.
    fn key(&self) -> Key;

    /// The index entries under which it is found.
    fn indexes(&self) -> Vec<IndexEntry> {
        Vec::new()
    }
}

/// That a stack name means a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StackAlias {
    /// The name.
    pub name: StackName,
    /// The stack it means.
    pub stack: StackId,
}

impl Record for StackAlias {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::stack_name(&self.name)
    }
}

/// An edge: the record at `at` concerns the stack. It carries nothing; its key is the fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// Its key, made by [`Key::dependant`], [`Key::reader`], [`Key::source_stack`], [`Key::set_stack`],
    /// [`Key::state`] or [`Key::trouble`].
    pub at: Key,
    /// The stack.
    pub stack: StackId,
    /// The stack's name, for people.
    pub name: StackName,
}

impl Record for Edge {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        self.at.clone()
    }
}

/// What holds for the whole installation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installation {
    /// Who stopped all new applies, if they are stopped.
    pub paused: Option<crate::request::Signed>,
    /// The last entry of the installation's own chain in the audit trail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditHead>,
}

impl Record for Installation {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::installation()
    }
}
