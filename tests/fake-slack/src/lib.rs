#![doc = include_str!("../README.md")]
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a test's world fails the test"
)]

mod blocks;
mod http;
mod methods;
mod press;

use std::collections::{BTreeMap, VecDeque};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::Value;

pub use http::{Answer, Request};

/// A Slack. It serves until the test's process ends.
#[derive(Debug, Clone)]
pub struct FakeSlack {
    address: String,
    state: Arc<Mutex<State>>,
}

/// Answers one client on a thread of its own: one that hangs keeps no other waiting.
fn serve(stream: TcpStream, state: &Arc<Mutex<State>>) {
    let state = Arc::clone(state);
    // A client that hangs up early is no matter of ours.
    thread::spawn(move || drop(http::serve(&stream, |request| methods::answer(&state, request))));
}

/// A message in a channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// The channel's id, or the path of an incoming webhook.
    pub channel: String,
    /// Names the message within the channel; empty where it came through a webhook.
    pub ts: String,
    /// What it shows now, as it was sent.
    pub body: Value,
    /// How often it was edited.
    pub edits: usize,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// Channels by name, without `#`.
    channels: BTreeMap<String, String>,
    messages: Vec<Message>,
    calls: Vec<(String, Value)>,
    complaints: Vec<String>,
    next_answers: VecDeque<Answer>,
    used_triggers: Vec<String>,
    used_responses: BTreeMap<String, usize>,
}

impl FakeSlack {
    /// The token of its one bot.
    pub const TOKEN: &'static str = "xoxb-the-token-of-a-bot";
    /// The secret by which it signs what it sends.
    pub const SIGNING_SECRET: &'static str = "the signing secret of an app";

    /// A Slack with these channels, named without `#`.
    pub fn start(channels: &[&str]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = format!("http://{}", listener.local_addr().expect("a listener has an address"));
        let id = |name: &&str| ((*name).to_owned(), format!("C0{}", name.to_uppercase().replace('-', "")));
        let state = State { channels: channels.iter().map(id).collect(), ..State::default() };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        thread::spawn(move || listener.incoming().flatten().for_each(|stream| serve(stream, &shared)));
        Self { address, state }
    }

    /// Where it is: `http://127.0.0.1:port`.
    pub fn url(&self) -> &str {
        &self.address
    }

    /// The address of its API, as a provider's manifest names it.
    pub fn api(&self) -> String {
        format!("{}/api/chat.postMessage", self.address)
    }

    /// The address of an incoming webhook.
    pub fn webhook(&self) -> String {
        format!("{}/services/T0/B0/x", self.address)
    }

    /// An address that private answers go to.
    pub fn response_url(&self, name: &str) -> String {
        format!("{}/response/{name}", self.address)
    }

    /// All messages as they are now, oldest first.
    pub fn messages(&self) -> Vec<Message> {
        self.state().messages.clone()
    }

    /// The messages that show a text anywhere.
    pub fn messages_with(&self, text: &str) -> Vec<Message> {
        self.messages().into_iter().filter(|message| message.body.to_string().contains(text)).collect()
    }

    /// Every call that was taken, oldest first: the method or path, and the body.
    pub fn calls(&self, method: &str) -> Vec<Value> {
        let calls = self.state().calls.clone();
        calls.into_iter().filter(|(called, _)| called == method).map(|(_, body)| body).collect()
    }

    /// What the real one would have refused.
    pub fn complaints(&self) -> Vec<String> {
        self.state().complaints.clone()
    }

    /// The next request gets this answer, and does nothing.
    pub fn answer_next(&self, answer: Answer) {
        self.state().next_answers.push_back(answer);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
