//! Where messages go: Slack, as a bot and its app see it, and an address that takes events. Both are at times busy, slow or
//! away, take what they seem not to have taken, and refuse for good; people delete messages in Slack.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use yuba_core::id::StackId;
use yuba_ports::{Http, HttpAnswer, HttpRequest, NoAnswer};

use super::gate::gate;
use super::{Call, State, World};
use crate::faults::{Fault, THROTTLE};
use crate::lane::Lane;
use crate::mutation::Mutation;

/// Slack's methods, as the manifests name them.
pub(crate) const SLACK: &str = "https://slack.example/api";
/// Where people in Slack are answered, each press at an address of its own.
pub(crate) const ANSWERS: &str = "https://slack.example/answers/";
/// What takes events.
pub(crate) const HOOK: &str = "https://hook.example/events";

/// What arrived.
#[derive(Debug, Default)]
pub(crate) struct Services {
    /// Messages in Slack by time stamp, each with all that it showed, oldest first.
    pub(crate) messages: BTreeMap<String, Vec<Value>>,
    /// Modals that were opened and not submitted yet, by what opened them.
    pub(crate) modals: BTreeMap<String, Value>,
    /// The addresses at which somebody was answered.
    pub(crate) answered: BTreeSet<String>,
    /// How often each event arrived at the hook, by stack and number.
    pub(crate) events: BTreeMap<(StackId, u64), u32>,
}

#[async_trait]
impl Http for World {
    async fn post(&self, request: &HttpRequest) -> Result<HttpAnswer, NoAnswer> {
        gate().await;
        let url = request.url.expose_secret().to_owned();
        let fault = self.state().fault(Lane::Services, Call::Any, || format!("posts to {url}"));
        if matches!(fault, Some(Fault::Failed | Fault::AnswerLost)) {
            self.sleep(request.timeout).await;
        }
        let mut state = self.state();
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        match fault {
            None | Some(Fault::Conflict) => Ok(state.arrived(&url, body)),
            Some(Fault::Throttled) => {
                Ok(HttpAnswer { retry_after: Some(THROTTLE), ..answer(429, &Value::Null) })
            }
            Some(Fault::Refused) => Ok(state.refuses(&url)),
            Some(Fault::Failed) => Err(nobody()),
            Some(Fault::AnswerLost) => {
                state.arrived(&url, body);
                Err(nobody())
            }
        }
    }
}

impl State {
    /// A request arrived, and is carried out.
    fn arrived(&mut self, url: &str, body: Value) -> HttpAnswer {
        if self.mutation == Some(Mutation::NoticeUnsent) {
            return answer(200, &json!({ "ok": true, "channel": "C1", "ts": "0" }));
        }
        if url == HOOK {
            self.hooked(&body);
            return answer(200, &Value::Null);
        }
        if url.starts_with(ANSWERS) {
            self.services.answered.insert(url.to_owned());
            return answer(200, &Value::Null);
        }
        match url.strip_prefix(SLACK).unwrap_or_default() {
            "/chat.postMessage" => {
                let ts = self.number().to_string();
                self.services.messages.insert(ts.clone(), vec![body]);
                answer(200, &json!({ "ok": true, "channel": "C1", "ts": ts }))
            }
            "/chat.update" => self.edited(body),
            "/views.open" => {
                let trigger = body.get("trigger_id").and_then(Value::as_str).unwrap_or_default().to_owned();
                self.services.modals.insert(trigger, body.get("view").cloned().unwrap_or_default());
                answer(200, &json!({ "ok": true }))
            }
            "/chat.postEphemeral" => answer(200, &json!({ "ok": true })),
            _ => answer(404, &Value::Null),
        }
    }

    fn edited(&mut self, body: Value) -> HttpAnswer {
        let ts = body.get("ts").and_then(Value::as_str).unwrap_or_default().to_owned();
        let rate = self.rates.tamper;
        if self.goes_wrong(rate / 10) {
            self.services.messages.remove(&ts);
        }
        if self.mutation == Some(Mutation::EditForgotten) {
            return answer(200, &json!({ "ok": true, "channel": "C1", "ts": ts }));
        }
        match self.services.messages.get_mut(&ts) {
            Some(message) => {
                message.push(body);
                answer(200, &json!({ "ok": true, "channel": "C1", "ts": ts }))
            }
            None => answer(200, &json!({ "ok": false, "error": "message_not_found" })),
        }
    }

    fn hooked(&mut self, body: &Value) {
        let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let number = text("/metadata/number").parse();
        if let (Ok(stack), Ok(number)) = (text("/involvedObject/uid").parse(), number) {
            *self.services.events.entry((stack, number)).or_default() += 1;
        }
    }

    /// What is said no to: the message, or whoever sends it.
    fn refuses(&mut self, url: &str) -> HttpAnswer {
        let is_of_message = self.chance.permille(500);
        match (url.starts_with(SLACK), is_of_message) {
            (true, true) => answer(200, &json!({ "ok": false, "error": "invalid_blocks" })),
            (true, false) => answer(200, &json!({ "ok": false, "error": "not_in_channel" })),
            (false, true) => answer(400, &Value::Null),
            (false, false) => answer(403, &Value::Null),
        }
    }
}

fn answer(status: u16, body: &Value) -> HttpAnswer {
    HttpAnswer { status, retry_after: None, body: body.to_string().into_bytes() }
}

fn nobody() -> NoAnswer {
    NoAnswer::Unreachable("nobody answered in time".to_owned())
}
