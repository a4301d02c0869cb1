//! What joins messages and effects: `(records, message, now) → (changed records, effects, report)`.
//!
//! Deciding is level-triggered. First the message's cause is heard (a request, a report, a task that stopped); then the
//! stack is advanced as far as its records allow, whatever woke it. A message that comes twice, late or not at all
//! therefore changes nothing but the time at which things happen.
//!
//! Invariants kept here: one attempt is out at a time, and it is closed before the next is issued; an apply names the
//! file and content digests that were stored together; a decision counts for its content; previews, drift checks and
//! plans that are not to be applied never reach `applying`.

mod adoption;
mod advance;
mod approval;
mod attempts;
mod backend_first;
mod dependencies;
mod draft;
mod drift_answers;
mod due;
mod faulty;
mod frozen;
mod next;
mod renamed;
mod reports;
mod requests;
mod seen;
mod shown;
mod states;
mod trail;
mod wanted;

use std::collections::BTreeMap;

pub(crate) use approval::MOST_TEAMS;
pub use dependencies::{Dependency, dependency_blocked_by};
pub use renamed::Former;
pub use wanted::{settings_digest, values_name};

use crate::attempt::Attempt;
use crate::audit::AuditEntry;
use crate::freeze::Freeze;
use crate::id::{AttemptId, RunId, StackName};
use crate::message::{Cause, Message};
use crate::people::Team;
use crate::request::{Outcome, Request, Signed};
use crate::run::Run;
use crate::source::{Definition, Observation};
use crate::stack::Stack;
use crate::state_address::SameState;
use crate::time::Timestamp;
use crate::trouble::{Trouble, TroubleNotice};

use draft::Draft;

/// Everything that a decision about a stack reads.
#[derive(Debug, Clone)]
pub struct Records {
    /// The stack.
    pub stack: Stack,
    /// What the manifests say of it.
    pub definition: Option<Definition>,
    /// What Git holds for it.
    pub observation: Option<Observation>,
    /// The run that has not ended.
    pub run: Option<Run>,
    /// The run that found the drift that stands.
    pub drifted: Option<Run>,
    /// The run that the request names or was made before, where that has ended; the last one where it says where the state
    /// lives, or is about a lock.
    pub named: Option<Run>,
    /// The attempt that is out.
    pub attempt: Option<Attempt>,
    /// What the launcher says of that attempt's task; `None` where it was not asked.
    pub task: Option<TaskSeen>,
    /// The request that the message names, unless it was decided before.
    pub request: Option<Request>,
    /// Versions of the secrets and config maps it reads, by `Kind namespace/name`; those that exist.
    pub values: BTreeMap<String, String>,
    /// Versions of the secrets that open hosts for it, by `Secret namespace/name`; those that exist.
    pub hosts: BTreeMap<String, String>,
    /// The stacks it depends on.
    pub dependencies: Vec<Dependency>,
    /// Another stack that names its state, or may.
    pub same_state: Option<SameState>,
    /// An attempt of another stack with the same state that is out, where a lock of that state is to be released.
    pub holder: Option<Holder>,
    /// Stacks that it may be under a new name, or that the request names as one.
    pub formers: Vec<Former>,
    /// The trouble that its last failure belongs to.
    pub trouble: Option<Trouble>,
    /// Who stopped all new applies, if they are stopped.
    pub paused: Option<Signed>,
    /// All teams.
    pub teams: Vec<Team>,
    /// All freezes.
    pub freezes: Vec<Freeze>,
}

/// An attempt of another stack, which may hold the lock of a state that both have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The stack.
    pub name: StackName,
    /// The attempt.
    pub attempt: AttemptId,
}

/// What a launcher says of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskSeen {
    /// None was started.
    NeverStarted,
    /// It, or something it started, runs.
    Running,
    /// Nothing of it runs any more; how it ended.
    Stopped(String),
}

/// Time and chance, as a decision is handed them.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// Now.
    pub now: Timestamp,
    /// The id of the run that may be made.
    pub run: RunId,
}

/// What was decided. All records are written in one commit; effects still to do stand in the stack's outbox.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The stack.
    pub stack: Stack,
    /// Runs that changed or were made.
    pub runs: Vec<Run>,
    /// Attempts that changed or were issued.
    pub attempts: Vec<Attempt>,
    /// The request with its outcome.
    pub request: Option<Request>,
    /// The stack whose state this one took over.
    pub former: Option<Stack>,
    /// Notice of a trouble that is given; there must be none yet.
    pub notice: Option<TroubleNotice>,
    /// What the stack's audit trail tells of it.
    pub audit: Vec<AuditEntry>,
    /// What happened, and why nothing did: for the log.
    pub report: Vec<String>,
}

/// Decides what a message means for a stack.
pub fn decide(records: Records, message: &Message, moment: Moment) -> Decision {
    let mut draft = Draft::new(records, moment);
    draft.hear_effects();
    draft.hear_attempt();
    draft.notice_trouble();
    draft.notice_same_state();
    draft.notice_faulty_manifest();
    draft.notice_vanished_manifest();
    if matches!(message.cause, Cause::Request(_)) {
        draft.hear_request();
    }
    draft.advance();
    if matches!(message.cause, Cause::Request(_)) {
        draft.name_run_of_request();
    }
    draft.finish()
}

/// Why the records as they stand refuse their request, if they do: what a door may say at once, before the message
/// that carries the request is decided in its turn.
pub fn refusal(records: Records, moment: Moment) -> Option<String> {
    let mut draft = Draft::new(records, moment);
    draft.hear_request();
    match draft.finish().request?.outcome {
        Outcome::Refused { message } => Some(message),
        Outcome::Pending | Outcome::Done { .. } => None,
    }
}

#[cfg(test)]
mod tests;
