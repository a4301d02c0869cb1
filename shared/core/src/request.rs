//! What people and programs ask for. A request is stored before its message is sent; the decision about it is written
//! into the same record, in the commit that carries it out, so that whoever asked can see what became of it.

use serde::{Deserialize, Serialize};

use crate::audit::AuditAction;
use crate::id::{ContentDigest, PlanId, RequestId, RunId, StackId};
use crate::people::Identity;
use crate::record::{Index, IndexEntry, Key, Record};
use crate::schedule::REQUEST_KEPT;
use crate::time::Timestamp;

/// Who did something, when, from where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// The person or program: a login, an e-mail address, `git:<author>`.
    pub who: String,
    /// When.
    pub at: Timestamp,
    /// Through which door: `cli`, `api`, `slack`, `manifest`.
    pub from: String,
    /// What they wrote beside it; may be empty.
    pub message: String,
    /// The name that a service vouches for; none where `who` was only claimed, by whoever holds the API's token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
}

/// A request about one stack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    /// Its id; also where to look for its outcome.
    pub id: RequestId,
    /// The stack it is about.
    pub stack: StackId,
    /// Who asked.
    pub by: Signed,
    /// For what.
    pub ask: Ask,
    /// What became of it.
    pub outcome: Outcome,
    /// What whoever asked had before their eyes, where that is known: it is refused where something else stands now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
    /// Where they are told what became of it, where they do not ask themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<SlackReply>,
    /// The number of the entry in the stack's audit trail that tells of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<u64>,
}

/// The run, and the content of its plan, that somebody decided about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The run.
    pub run: RunId,
    /// The content that was shown.
    pub content: Option<ContentDigest>,
}

/// Where somebody in Slack is answered, so that only they see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlackReply {
    /// Slack's address for answers to one press: good for 30 minutes and five answers.
    pub response_url: Option<String>,
    /// The user's id.
    pub user: String,
    /// The channel that the message stands in, where the address is good no more.
    pub channel: Option<String>,
}

impl Request {
    /// A request that is not decided, of somebody who will ask what became of it.
    pub fn new(id: RequestId, stack: StackId, by: Signed, ask: Ask) -> Self {
        Self { id, stack, by, ask, outcome: Outcome::Pending, seen: None, reply: None, entry: None }
    }
}

impl Request {
    /// Whether the stack's audit trail still is to tell that it was refused: a door said so before the stack was woken.
    pub fn is_refused_unrecorded(&self) -> bool {
        matches!(self.outcome, Outcome::Refused { .. }) && self.entry.is_none() && self.ask.action().is_some()
    }
}

impl Record for Request {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::request(self.id)
    }
    fn indexes(&self) -> Vec<IndexEntry> {
        vec![IndexEntry::at(Index::Expires, self.by.at + REQUEST_KEPT)]
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ask {
    /// Let a plan be applied: the one that waits, or the one of a `drifted` run.
    Approve {
        /// The plan id that was seen; must be the current one where it is given.
        plan: Option<PlanId>,
        /// The first digits of the content digest, where they were typed after `@`.
        digest: Option<String>,
    },
    /// Do not let the waiting plan be applied.
    Reject,
    /// Look at the source now, and plan if anything changed; else check for drift.
    Reconcile,
    /// Plan again whatever was planned before.
    Replan,
    /// Check for drift now.
    CheckDrift,
    /// Tell nobody of the drift that stands for a while.
    IgnoreDrift {
        /// For how many hours.
        hours: u32,
    },
    /// Somebody looks after the drift that stands.
    AcknowledgeDrift,
    /// Start no new runs.
    Suspend,
    /// Take a person's suspension back.
    Resume,
    /// Plan the destruction of all that the state holds; applying it still waits for approval.
    Destroy,
    /// End the current run (or the one named).
    Cancel {
        /// The run, where one is named; it must be the current one.
        run: Option<RunId>,
    },
    /// Say where the state of a stack lives that waits for adoption.
    Adopt(Adoption),
    /// Plan with a release of the backend's lock of this id first.
    Unlock {
        /// The lock's id, as the failed run reported it.
        lock: String,
    },
    /// Push the state that a failed apply left behind.
    Recover {
        /// The run that left it.
        run: RunId,
    },
}

impl Ask {
    /// What the audit trail calls it; `None` where it only looks, and changes nothing.
    pub fn action(&self) -> Option<AuditAction> {
        Some(match self {
            Self::Reconcile | Self::CheckDrift => return None,
            Self::Approve { .. } => AuditAction::Approve,
            Self::Reject => AuditAction::Reject,
            Self::Replan => AuditAction::Replan,
            Self::IgnoreDrift { .. } => AuditAction::IgnoreDrift,
            Self::AcknowledgeDrift => AuditAction::AcknowledgeDrift,
            Self::Suspend => AuditAction::Suspend,
            Self::Resume => AuditAction::Resume,
            Self::Destroy => AuditAction::Destroy,
            Self::Cancel { .. } => AuditAction::Cancel,
            Self::Adopt(_) => AuditAction::Adopt,
            Self::Unlock { .. } => AuditAction::Unlock,
            Self::Recover { .. } => AuditAction::Recover,
        })
    }
}

/// Where the state of a stack without a named backend lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Adoption {
    /// There is none: the stack starts anew.
    New,
    /// It was imported from a state file that the caller uploaded.
    Imported,
    /// The installation keeps it for this stack, which vanished from the manifests.
    From(StackId),
}

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Not decided yet.
    Pending,
    /// Carried out.
    Done {
        /// What happened, for people.
        message: String,
        /// The run it concerns.
        run: Option<RunId>,
        /// Whether the run that comes of it is still to be made.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        run_to_come: bool,
    },
    /// Refused; nothing was changed.
    Refused {
        /// Why, and what to do.
        message: String,
    },
}

/// What somebody decided about a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Which way.
    pub verdict: DecisionVerdict,
    /// The content it counts for.
    pub content: ContentDigest,
    /// Who, when, from where, why.
    pub by: Signed,
}

/// Which way a decision went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DecisionVerdict {
    /// Apply it.
    Approve,
    /// Do not.
    Reject,
    /// Say nothing of this drift.
    Ignore {
        /// Until then.
        until: Timestamp,
    },
    /// Somebody looks after this drift.
    Acknowledge,
}

impl DecisionVerdict {
    /// What somebody did who decided so.
    pub fn past(self) -> &'static str {
        match self {
            Self::Approve => "approved",
            Self::Reject => "rejected",
            Self::Ignore { .. } => "ignores",
            Self::Acknowledge => "acknowledged",
        }
    }
}
