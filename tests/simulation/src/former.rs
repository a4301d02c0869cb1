//! Faults that the engine once had, planted again where the functions meet their ports: what the mended code reads or
//! writes is changed so that it does what it did before. Should an oracle go blind to one of them, a test says so.

use std::hash::{BuildHasher, RandomState};

use serde_json::{Value, json};
use yuba_core::attempt::Attempt;
use yuba_core::decide::settings_digest;
use yuba_core::effect::Effect;
use yuba_core::id::StackId;
use yuba_core::message::Message;
use yuba_core::record::Key;
use yuba_core::run::{Run, RunKind, RunState};
use yuba_core::spec::{ApprovePlan, StackSpec};
use yuba_ports::Write;

use crate::mutation::set;
use crate::world::State;

impl State {
    /// A stack that was planned while its approvePlan was `disable` seems to have been planned with the one it has now.
    pub(crate) fn forget_disable(&self, key: &Key, body: &mut Value) {
        let Some(definition) = stack_of(key).and_then(|id| self.oracle.definition(id)) else { return };
        let spec = &definition.spec;
        let disabled = StackSpec { approve_plan: ApprovePlan::Disable, ..spec.clone() };
        let planned = body.pointer_mut("/planned/settings");
        if let Some(planned) = planned.filter(|planned| **planned == json!(settings_digest(&disabled))) {
            *planned = json!(settings_digest(spec));
        }
    }

    /// An attempt whose start was refused for good seems not to be claimed.
    pub(crate) fn forget_claim_once_refused(&self, body: &mut Value) {
        let Ok(attempt) = serde_json::from_value::<Attempt>(body.clone()) else { return };
        let start = Effect::StartTask { attempt: attempt.id };
        let outbox = self.oracle.stack(attempt.stack).into_iter().flat_map(|stack| &stack.outbox);
        let is_refused = outbox.filter(|pending| pending.given_up).any(|pending| pending.effect == start);
        if is_refused && body.get("state") == Some(&json!("claimed")) {
            set(body, "state", json!("issued"));
        }
    }

    /// What a superseded run was made for still counts as planned, where no other run takes its place.
    pub(crate) fn keep_superseded_planned(&self, writes: &mut [Write]) {
        let run = |write: &Write| match write {
            Write::Put { body, .. } => serde_json::from_value::<Run>(body.clone()).ok(),
            Write::Delete { .. } | Write::Check { .. } => None,
        };
        let is_superseded = |run: &Run| run.state == RunState::Superseded && run.kind != RunKind::Drift;
        let Some(run) = writes.iter().filter_map(run).find(is_superseded) else { return };
        let was_planned =
            self.oracle.stack(run.stack).is_some_and(|stack| stack.planned.as_ref() == Some(&run.wanted));
        for write in writes.iter_mut().filter(|_| was_planned) {
            if let Write::Put { key, body, .. } = write
                && *key == Key::stack(run.stack)
                && body.get("run").is_some_and(Value::is_null)
            {
                set(body, "planned", json!(run.wanted));
            }
        }
    }

    /// A source seems to have been looked at last at the commit that it is at, whatever look was cut since.
    pub(crate) fn forget_cut_look(&self, body: &mut Value) {
        let Some(url) = body.pointer("/spec/url").and_then(Value::as_str) else { return };
        let Some(head) = self.git.head(url, "main") else { return };
        let is_seen = body.pointer("/seen/tree") == Some(&json!(head.tree))
            && body.pointer("/seen/revision") == Some(&json!(format!("main@sha1:{}", head.id)));
        if is_seen {
            let number = body.get("observation").cloned().unwrap_or_default();
            if let Some(seen) = body.pointer_mut("/seen/observation") {
                *seen = number;
            }
        }
    }
}

/// Puts messages in an order that no seed determines.
pub(crate) fn in_any_order(messages: &mut [&Message]) {
    let order = RandomState::new();
    messages.sort_by_key(|message| order.hash_one(message.deduplication_id()));
}

fn stack_of(key: &Key) -> Option<StackId> {
    key.partition.strip_prefix("stack#")?.parse().ok()
}
