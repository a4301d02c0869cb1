//! Entries, and how one is put behind the others.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::canonical::{Kind, body_of, hash_of};
use crate::id::{AuditChain, AuditHash, ContentDigest, FileDigest, PlanId, Revision, RunId, StackName};
use crate::record::{Key, Record};
use crate::request::Signed;
use crate::time::Timestamp;

/// One entry of a chain. It holds names, ids, digests, and what people wrote beside what they asked for; never a value of
/// a plan or of a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// The chain.
    pub chain: AuditChain,
    /// Counts from 1 within the chain.
    pub number: u64,
    /// What was done.
    pub deed: Deed,
    /// The hash of the entry before; [`AuditHash::NONE`] in the first.
    pub previous: AuditHash,
    /// SHA-256 over all of the above.
    pub hash: AuditHash,
}

/// What somebody, or Yuba for somebody, did or was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deed {
    /// When it was decided.
    pub at: Timestamp,
    /// The stack's name at that time; none where it concerns the whole installation.
    pub stack: Option<StackName>,
    /// Who, when they asked, through which door, and what they wrote beside it.
    pub by: Signed,
    /// What.
    pub action: AuditAction,
    /// What of, where the action alone does not say it: a lock's id, where a state is; may be empty.
    pub about: String,
    /// Which way it went.
    pub outcome: AuditOutcome,
    /// What came of it, or why it was refused and by which rule.
    pub detail: String,
    /// The rules that stood then, for what concerns a plan; else empty.
    pub rule: String,
    /// The run.
    pub run: Option<RunId>,
    /// The plan.
    pub plan: Option<AuditedPlan>,
}

impl Deed {
    /// What somebody did to the whole installation, when they asked for it.
    pub fn of_installation(by: &Signed, action: AuditAction, about: String, detail: String) -> Self {
        Self {
            at: by.at,
            stack: None,
            by: by.clone(),
            action,
            about,
            outcome: AuditOutcome::Done,
            detail,
            rule: String::new(),
            run: None,
            plan: None,
        }
    }
}

/// Which plan something concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditedPlan {
    /// Its id.
    pub id: PlanId,
    /// The revision that was planned.
    pub revision: Revision,
    /// What people approve.
    pub content: ContentDigest,
    /// What is applied.
    pub file: FileDigest,
}

/// What is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditAction {
    /// A plan was let be applied, also by its id in a manifest.
    Approve,
    /// A plan was not.
    Reject,
    /// A plan was asked for.
    Replan,
    /// Nobody is to be told of drift for a while.
    IgnoreDrift,
    /// Somebody looks after drift.
    AcknowledgeDrift,
    /// No new runs.
    Suspend,
    /// New runs again.
    Resume,
    /// A plan of the destruction was asked for.
    Destroy,
    /// A run was to end.
    Cancel,
    /// Somebody said where the state is.
    Adopt,
    /// A lock was to be released.
    Unlock,
    /// A state that was left behind was to be pushed.
    Recover,
    /// An apply began.
    ApplyStarted,
    /// An apply ended.
    ApplyEnded,
    /// All new applies were stopped.
    Pause,
    /// They may start again.
    Unpause,
    /// A token for the API was made.
    CreateToken,
    /// A token gives nothing any more.
    RevokeToken,
}

impl fmt::Display for AuditAction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Approve => "approve",
            Self::Reject => "reject",
            Self::Replan => "replan",
            Self::IgnoreDrift => "ignore-drift",
            Self::AcknowledgeDrift => "acknowledge-drift",
            Self::Suspend => "suspend",
            Self::Resume => "resume",
            Self::Destroy => "destroy",
            Self::Cancel => "cancel",
            Self::Adopt => "adopt",
            Self::Unlock => "unlock",
            Self::Recover => "recover",
            Self::ApplyStarted => "apply-started",
            Self::ApplyEnded => "apply-ended",
            Self::Pause => "pause",
            Self::Unpause => "unpause",
            Self::CreateToken => "create-token",
            Self::RevokeToken => "revoke-token",
        })
    }
}

/// Which way something went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AuditOutcome {
    /// It was done.
    Done,
    /// It was refused; nothing was changed.
    Refused,
    /// It was begun and did not end well.
    Failed,
}

impl fmt::Display for AuditOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Done => "done",
            Self::Refused => "refused",
            Self::Failed => "failed",
        })
    }
}

/// The last entry of a chain, as the record keeps it that the chain is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditHead {
    /// The chain.
    pub chain: AuditChain,
    /// The entry's number.
    pub number: u64,
    /// Its hash.
    pub hash: AuditHash,
    /// When it was decided.
    pub at: Timestamp,
}

impl AuditEntry {
    /// The next entry of a chain; the head becomes its head.
    pub fn append(head: &mut Option<AuditHead>, chain: AuditChain, deed: Deed) -> Self {
        let (number, previous) = head.map_or((0, AuditHash::NONE), |head| (head.number, head.hash));
        let mut entry = Self { chain, number: number + 1, deed, previous, hash: AuditHash::NONE };
        entry.hash = hash_of(Kind::Entry, &body_of(&entry));
        *head = Some(AuditHead { chain, number: entry.number, hash: entry.hash, at: entry.deed.at });
        entry
    }
}

impl Record for AuditEntry {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::audit_entry(self.chain, self.number)
    }
}
