//! The methods of the API, incoming webhooks and response URLs.
//! <https://docs.slack.dev/reference/methods>

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::http::{Answer, Request};
use crate::{FakeSlack, Message, State, blocks};

/// How often a response URL may be used.
const MOST_RESPONSES: usize = 5;

/// Answers a request.
pub(crate) fn answer(state: &Mutex<State>, request: &Request) -> Answer {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(answer) = state.next_answers.pop_front() {
        return answer;
    }
    let Ok(body) = serde_json::from_slice::<Value>(&request.body) else {
        state.complaints.push(format!("{}: the body is no JSON", request.path));
        return Answer::new(400, "invalid_payload");
    };
    if let Some(method) = request.path.strip_prefix("/api/") {
        let outcome = state.method(request, method, &body);
        let said = outcome.unwrap_or_else(|error| json!({ "ok": false, "error": error }));
        return Answer::new(200, said.to_string());
    }
    match request.path.strip_prefix("/response/") {
        Some(name) => state.response(name, &body),
        None if request.path.starts_with("/services/") => state.webhook(&request.path, body),
        None => Answer::new(404, "no_service"),
    }
}

impl State {
    fn method(&mut self, request: &Request, method: &str, body: &Value) -> Result<Value, &'static str> {
        let authorization = format!("Bearer {}", FakeSlack::TOKEN);
        match request.header("authorization") {
            None => return Err("not_authed"),
            Some(given) if given != authorization => return Err("invalid_auth"),
            Some(_) => {}
        }
        if !request.header("content-type").is_some_and(|kind| kind.starts_with("application/json")) {
            return Err("invalid_post_type");
        }
        self.check(method, body)?;
        let said = match method {
            "chat.postMessage" => self.post(body),
            "chat.update" => self.update(body),
            "chat.postEphemeral" => {
                self.channel(body)?;
                if body["user"].is_string() { Ok(json!({ "ok": true })) } else { Err("user_not_in_channel") }
            }
            "views.open" => self.open(body),
            _ => Err("unknown_method"),
        }?;
        self.calls.push((method.to_owned(), body.clone()));
        Ok(said)
    }

    /// Blocks of a message or a view, and that there is a text beside them.
    fn check(&mut self, what: &str, body: &Value) -> Result<(), &'static str> {
        let held = if what == "views.open" { &body["view"]["blocks"] } else { &body["blocks"] };
        let faults = if held.is_null() { Vec::new() } else { blocks::faults(held) };
        self.complaints.extend(faults.iter().map(|fault| format!("{what}: {fault}")));
        if what.starts_with("chat.") && body["text"].as_str().is_none_or(str::is_empty) {
            self.complaints.push(format!("{what}: no text for where blocks are not shown"));
        }
        if faults.is_empty() { Ok(()) } else { Err("invalid_blocks") }
    }

    /// The id of the channel that a body names.
    fn channel(&self, body: &Value) -> Result<String, &'static str> {
        let named = body["channel"].as_str().unwrap_or_default();
        let by_name = self.channels.get(named.trim_start_matches('#'));
        let by_id = || self.channels.values().find(|id| *id == named);
        by_name.or_else(by_id).cloned().ok_or("channel_not_found")
    }

    fn post(&mut self, body: &Value) -> Result<Value, &'static str> {
        let channel = self.channel(body)?;
        let ts = format!("1796027157.{:06}", self.messages.len() + 1);
        self.messages.push(Message {
            channel: channel.clone(),
            ts: ts.clone(),
            body: body.clone(),
            edits: 0,
        });
        Ok(json!({ "ok": true, "channel": channel, "ts": ts }))
    }

    fn update(&mut self, body: &Value) -> Result<Value, &'static str> {
        let (channel, ts) = (&body["channel"], &body["ts"]);
        if !self.channels.values().any(|id| channel == id) {
            return Err("channel_not_found");
        }
        let message =
            self.messages.iter_mut().find(|message| channel == &message.channel && ts == &message.ts);
        let message = message.ok_or("message_not_found")?;
        message.body = body.clone();
        message.edits += 1;
        Ok(json!({ "ok": true, "channel": channel, "ts": ts }))
    }

    fn open(&mut self, body: &Value) -> Result<Value, &'static str> {
        let trigger = body["trigger_id"].as_str().ok_or("invalid_arguments")?.to_owned();
        if self.used_triggers.contains(&trigger) {
            return Err("exchanged_trigger_id");
        }
        self.used_triggers.push(trigger);
        Ok(json!({ "ok": true, "view": { "id": "V1" } }))
    }

    fn response(&mut self, name: &str, body: &Value) -> Answer {
        let uses = self.used_responses.entry(name.to_owned()).or_default();
        *uses += 1;
        if *uses > MOST_RESPONSES {
            return Answer::new(404, "used_url");
        }
        self.calls.push((format!("/response/{name}"), body.clone()));
        Answer::new(200, "ok")
    }

    fn webhook(&mut self, path: &str, body: Value) -> Answer {
        if self.check("webhook", &body).is_err() {
            return Answer::new(400, "invalid_blocks");
        }
        self.messages.push(Message { channel: path.to_owned(), ts: String::new(), body, edits: 0 });
        Answer::new(200, "ok")
    }
}
