//! Faults planted in the engine, one at a time, to see that an oracle catches each. They stand around the functions,
//! where these meet their ports: a condition dropped from a commit, a record altered as it is read, an effect that is
//! done too early or not at all.

use serde_json::{Value, json};
use yuba_core::id::AttemptId;
use yuba_core::message::{Cause, Message};
use yuba_core::record::Key;
use yuba_ports::{Expected, Item, Page, Write};

use crate::chance::Chance;
use crate::faults::Rates;
use crate::lane::Lane;
use crate::people::{NAMES, STRANGER, slack_id};
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
    DisableForgotten: "a stack that was planned while approvePlan was disable is not planned anew for auto",
    RefusedStartEnds: "a start that is refused for good ends its attempt though its task runs",
    SupersededStaysPlanned: "a run that is superseded still counts as planned",
    CutLookSeen: "a commit that comes back counts as seen though a look after it was cut",
    ApprovalsForgotten: "approvals are forgotten when a plan is made again",
    NoticeUnwritten: "that notice was given of an error of many stacks is not written down",
    RulesIgnored: "what a stack demands of those who approve is not seen",
    CountTwice: "an approval counts once more, as that of whoever holds the token",
    StrangersDecide: "everybody counts as a member of every team",
    NoticeUnsent: "messages count as sent that were not",
    EditForgotten: "the message of a run stays as it was first sent",
    EventUntold: "the notifier is not told of events",
    NoFixedOrder: "the stacks of a look are woken in no fixed order",
}

impl Mutation {
    /// The rates of a world in which the fault shows: what it takes besides may be rarer than worlds are many.
    pub(crate) fn shown_by(self, rates: Rates) -> Rates {
        match self {
            // Whoever takes a report in must sleep, between reading its attempt and writing it, until that was closed.
            Self::ReportUnconditionally => Rates { sleep: 150, network: 200, ..rates },
            Self::DisableForgotten => Rates { edit: 150, approval: 900, push: 2, ..rates },
            Self::SupersededStaysPlanned => {
                Rates { back: 80, suspend: 60, push: 20, people: 100, ..Rates::none() }
            }
            Self::CutLookSeen => Rates { back: 60, crash: 60, push: 20, people: 60, ..Rates::none() },
            Self::ApprovalsForgotten => Rates { tamper: 300, ..rates },
            Self::NoticeUnwritten => Rates { outage: 1500, large: 1000, push: 20, ..Rates::none() },
            Self::RefusedStartEnds => Rates {
                refused: 30,
                answer_lost: 60,
                push: 30,
                people: 20,
                troubled: Some(Lane::Launcher),
                ..Rates::none()
            },
            Self::RulesIgnored => Rates { office: 1000, people: 40, push: 30, edit: 20, ..Rates::none() },
            Self::StrangersDecide => {
                Rates { office: 1000, people: 80, push: 20, edit: 10, press: 200, ..Rates::none() }
            }
            Self::AdvanceFirst => Rates { crash: 60, people: 100, ..rates },
            _ => rates,
        }
    }
}

impl Rates {
    /// The rates of a seed's world: a rough one for each second seed where something is planted.
    pub(crate) fn of_world(seed: u64, mutation: Option<Mutation>, chance: &mut Chance) -> Self {
        let is_rough = mutation.is_some() && seed.is_multiple_of(2);
        let rates = if is_rough { Self::rough(chance) } else { Self::of(chance) };
        mutation.map_or(rates, |mutation| mutation.shown_by(rates))
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
            Some(Mutation::NoticeUnwritten) => writes.retain(|write| write.key().sort != "notice"),
            Some(Mutation::SupersededStaysPlanned) => self.keep_superseded_planned(&mut writes),
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
        let kind = key.sort.split('#').next().unwrap_or_default();
        match (self.mutation, kind) {
            (Some(Mutation::ApprovalsForgotten), "run") if body.get("state") == Some(&json!("planning")) => {
                set(body, "decisions", json!([]));
            }
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

    /// Records of a partition as a planted fault lets them be read.
    pub(crate) fn altered_page(&self, mut page: Page) -> Page {
        if self.is_mutated(Mutation::StrangersDecide) {
            page.items.iter_mut().for_each(|item| self.alter_body(&item.key, &mut item.body));
        }
        page
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
            (Mutation::RulesIgnored, "definition") if self.is_by("orchestrator") => {
                if let Some(approval) = body.pointer_mut("/spec/approval") {
                    *approval = Value::Null;
                }
            }
            (Mutation::CountTwice, "run") if self.is_by("orchestrator") => count_twice(body),
            (Mutation::StrangersDecide, "team") if self.is_by("orchestrator") => take_everybody_in(body),
            (Mutation::DisableForgotten, "stack") if self.is_by("orchestrator") => {
                self.forget_disable(key, body);
            }
            (Mutation::RefusedStartEnds, "attempt") if self.is_by("orchestrator") => {
                self.forget_claim_once_refused(body);
            }
            (Mutation::CutLookSeen, "source") if self.is_by("source") => self.forget_cut_look(body),
            (Mutation::PauseIgnored, "installation") => set(body, "paused", Value::Null),
            _ => {}
        }
    }

    /// Whether a planted fault lets messages of this kind get lost.
    pub(crate) fn loses(&self, message: &Message) -> bool {
        match &message.cause {
            Cause::Observation { .. } => self.is_mutated(Mutation::WakeNobody),
            Cause::Event { .. } => self.is_mutated(Mutation::EventUntold) && self.is_by("orchestrator"),
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

/// Each approval stands in the run once more, as that of whoever holds the API's token.
fn count_twice(run: &mut Value) {
    let Some(decisions) = run.get_mut("decisions").and_then(Value::as_array_mut) else { return };
    let mut others = decisions.clone();
    for other in &mut others {
        if let Some(by) = other.get_mut("by").and_then(Value::as_object_mut) {
            by.remove("identity");
        }
    }
    decisions.append(&mut others);
}

/// Everybody stands in the team, whom no team knows too.
fn take_everybody_in(team: &mut Value) {
    if let Some(members) = team.get_mut("members").and_then(Value::as_array_mut) {
        members.extend(
            NAMES
                .iter()
                .chain([&STRANGER])
                .map(|name| json!({ "name": name, "identities": [{ "slack": slack_id(name) }] })),
        );
    }
}

fn is_drift(run: &Value) -> bool {
    run.get("kind") == Some(&json!("drift"))
}

pub(crate) fn set(body: &mut Value, field: &str, value: Value) {
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
