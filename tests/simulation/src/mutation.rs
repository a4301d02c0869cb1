//! Faults planted in the engine, one at a time, to see that an oracle catches each. They stand around the functions,
//! where these meet their ports: a condition dropped from a commit, a record altered as it is read, an effect that is
//! done too early or not at all.

use std::hash::{BuildHasher, RandomState};

use serde_json::{Value, json};
use yuba_core::id::AttemptId;
use yuba_core::message::{Cause, Message};
use yuba_core::record::Key;
use yuba_ports::{Expected, Item, Write};

use crate::faults::Rates;
use crate::world::State;
use crate::world::store::NEWER;

/// A planted fault, and in words what the engine no longer does.
macro_rules! mutations {
    ($($name:ident: $words:literal,)*) => {
        /// A planted fault.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Mutation {
            $(
                #[doc = $words]
                $name,
            )*
        }

        impl Mutation {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// What it does, in words.
            pub fn words(self) -> &'static str {
                match self {
                    $(Self::$name => $words,)*
                }
            }
        }
    };
}

mutations! {
    CommitUnconditionally: "the orchestrator's commits expect nothing of what they write",
    ClaimUnconditionally: "a claim is written whatever became of the attempt meanwhile",
    ReportUnconditionally: "a report is written whatever became of the attempt meanwhile",
    CloseNoClaim: "the claim of an attempt that was lost is not closed",
    ReportAfterClose: "a report is accepted of an attempt that was closed",
    ClaimTwice: "an attempt that was claimed can be claimed again",
    ForgetAttempt: "the attempt that is out is not read before a decision",
    LostWithoutAsking: "an attempt counts as lost though its task runs",
    ActBeforeCommit: "tasks are started before their attempt is committed",
    AckBeforeCommit: "messages are acknowledged before they are handled",
    AckWithFirst: "messages that were received together are acknowledged once the first was handled",
    AckWhatCameMeanwhile: "a look acknowledges what came after it began",
    StartForgotten: "a start that was asked for is struck without being made",
    ApplyAnyFile: "the runner does not check the plan file's digest",
    SwapPlan: "an apply names the file of another plan",
    ApproveUnasked: "a plan counts as approved though nobody approved it",
    SuspendIgnored: "a manifest's suspension is not seen",
    PauseIgnored: "the installation's pause is not seen",
    DriftApplies: "a drift check is taken for a run that applies",
    AdvanceFirst: "a source's record advances before its last message",
    WakeNobody: "a look wakes no stack",
    RequestForgotten: "the outcome of a request is not written",
    OutcomeForgotten: "what became of a delivery is not written",
    EventForgotten: "an event is struck without being published",
    EventNumberReused: "two events of a stack get one number",
    NothingIsDue: "the scheduler wakes nothing that is due",
    ForgetUnknown: "what another version wrote into a record is dropped",
    HeldByTheEnded: "a stack stays held by a run that has ended",
    NoFixedOrder: "the stacks of a look are woken in no fixed order",
}

impl Mutation {
    /// The rates of a world in which the fault shows: what it takes besides may be rarer than worlds are many.
    pub(crate) fn shown_by(self, rates: Rates) -> Rates {
        match self {
            // Whoever takes a report in must sleep, between reading its attempt and writing it, until that was closed.
            Self::ReportUnconditionally => Rates { sleep: 150, network: 200, ..rates },
            _ => rates,
        }
    }
}

impl State {
    fn is_mutated(&self, mutation: Mutation) -> bool {
        self.mutation == Some(mutation)
    }

    fn is_by(&self, name: &str) -> bool {
        self.current.name.starts_with(name)
    }

    /// The writes of a commit as a planted fault makes them.
    pub(crate) fn mutated(&self, mut writes: Vec<Write>) -> Vec<Write> {
        let unconditional = match self.mutation {
            Some(Mutation::CommitUnconditionally) => self.is_by("orchestrator"),
            Some(Mutation::ClaimUnconditionally) => self.is_by("server /tasks/claim"),
            Some(Mutation::ReportUnconditionally) => self.is_by("server /tasks/report"),
            _ => false,
        };
        if unconditional {
            return writes.into_iter().map(unconditionally).collect();
        }
        match self.mutation {
            Some(Mutation::CloseNoClaim) => writes.retain(|write| !says(write, "state", &json!("closed"))),
            Some(Mutation::RequestForgotten) if self.is_by("orchestrator") => {
                writes.retain(|write| write.key().sort != "request");
            }
            Some(Mutation::OutcomeForgotten) if self.is_by("source") => {
                writes.retain(|write| write.key().sort != "delivery");
            }
            _ => {}
        }
        for write in &mut writes {
            if let Write::Put { key, body, .. } = write {
                self.mutate_body(key, body);
            }
        }
        writes
    }

    fn mutate_body(&self, key: &Key, body: &mut Value) {
        match (self.mutation, key.sort.as_str()) {
            (Some(Mutation::EventNumberReused), "stack") => {
                let number = self.oracle.events_of(key);
                if number > 2 {
                    set(body, "events", json!(number));
                }
            }
            (Some(Mutation::HeldByTheEnded), "stack") if body.get("run").is_some_and(Value::is_null) => {
                set(body, "run", body.get("latest").cloned().unwrap_or_default());
            }
            (Some(Mutation::SwapPlan), "attempt") => {
                if let Some(plan) = body.pointer_mut("/job/plan/file") {
                    *plan = json!(format!("sha256:{}", "ab".repeat(32)));
                }
            }
            (Some(Mutation::ForgetUnknown), _) => {
                if let Some(body) = body.as_object_mut() {
                    body.remove(NEWER);
                }
            }
            (Some(Mutation::AdvanceFirst), "source") if self.is_by("source") => self.advance_first(key, body),
            _ => {}
        }
    }

    /// A look that gets its number is noted as complete at once.
    fn advance_first(&self, key: &Key, body: &mut Value) {
        let number = body.get("observation").cloned().unwrap_or_default();
        let is_new = self.oracle.look_of(key) < number.as_u64().unwrap_or(0);
        let url = body.pointer("/spec/url").and_then(Value::as_str).unwrap_or_default();
        let Some(head) = self.git.head(url, "main").filter(|_| is_new) else { return };
        let definitions = body.get("definitions").cloned().unwrap_or_default();
        let revision = format!("main@sha1:{}", head.id);
        let seen = json!({ "revision": revision, "tree": head.tree, "at": self.now, "observation": number });
        set(body, "seen", seen);
        set(body, "definitions_seen", definitions);
    }

    /// A record as a planted fault lets it be read.
    pub(crate) fn altered(&self, key: &Key, item: Option<Item>) -> Option<Item> {
        let mut item = item?;
        let is_hidden = self.is_mutated(Mutation::ForgetAttempt) && self.is_by("orchestrator");
        if is_hidden && key.sort == "attempt" {
            return None;
        }
        self.alter_body(key, &mut item.body);
        Some(item)
    }

    fn alter_body(&self, key: &Key, body: &mut Value) {
        let Some(mutation) = self.mutation else { return };
        let kind = key.sort.split('#').next().unwrap_or_default();
        match (mutation, kind) {
            (Mutation::ReportAfterClose, "attempt") if self.is_by("server /tasks/report") => {
                set(body, "state", json!("claimed"));
            }
            (Mutation::ClaimTwice, "attempt") if self.is_by("server /tasks/claim") => {
                set(body, "state", json!("issued"));
            }
            (Mutation::SuspendIgnored, "definition") if self.is_by("orchestrator") => {
                if let Some(suspend) = body.pointer_mut("/spec/suspend") {
                    *suspend = json!(false);
                }
            }
            (Mutation::DriftApplies, "run") if self.is_by("orchestrator") && is_drift(body) => {
                set(body, "kind", json!("tracked"));
            }
            (Mutation::ApproveUnasked, "definition") if self.is_by("orchestrator") => {
                if let Some(approve) = body.pointer_mut("/spec/approve_plan") {
                    *approve = json!("auto");
                }
            }
            (Mutation::PauseIgnored, "installation") => set(body, "paused", Value::Null),
            _ => {}
        }
    }

    /// Whether a planted fault lets messages of this kind get lost.
    pub(crate) fn loses(&self, message: &Message) -> bool {
        match &message.cause {
            Cause::Observation { .. } => self.is_mutated(Mutation::WakeNobody),
            Cause::Due { .. } => self.is_mutated(Mutation::NothingIsDue) && self.is_by("scheduler"),
            _ => false,
        }
    }

    /// The attempts whose tasks a planted fault starts before they are committed.
    pub(crate) fn started_early(&self, writes: &[Write]) -> Vec<AttemptId> {
        if !self.is_mutated(Mutation::ActBeforeCommit) {
            return Vec::new();
        }
        let issued = writes.iter().filter(|write| says(write, "state", &json!("issued")));
        let attempt = |write: &Write| match write {
            Write::Put { key, .. } => key.partition.strip_prefix("attempt#")?.parse().ok(),
            _ => None,
        };
        issued.filter_map(attempt).collect()
    }
}

/// Puts messages in an order that no seed determines.
pub(crate) fn in_any_order(messages: &mut [&Message]) {
    let order = RandomState::new();
    messages.sort_by_key(|message| order.hash_one(message.deduplication_id()));
}

fn is_drift(run: &Value) -> bool {
    run.get("kind") == Some(&json!("drift"))
}

fn set(body: &mut Value, field: &str, value: Value) {
    if let Some(body) = body.as_object_mut() {
        body.insert(field.to_owned(), value);
    }
}

fn says(write: &Write, field: &str, value: &Value) -> bool {
    matches!(write, Write::Put { key, body, .. } if key.sort == "attempt" && body.get(field) == Some(value))
}

fn unconditionally(write: Write) -> Write {
    match write {
        Write::Put { key, body, indexes, .. } => Write::Put { key, body, indexes, expected: Expected::Any },
        other => other,
    }
}
