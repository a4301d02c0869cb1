//! A Slack for the demo: `demo-slack DIR` serves until it is killed. In DIR it writes `slack.api` (the address for a
//! provider), `slack.token`, `slack.secret` (what it signs with), and last `slack.port`, where it takes one line a connection:
//!
//! - `show TEXT`: the message that shows the text, once there is one;
//! - `press BUTTON USER SERVER TEXT`: the user presses that button of that message; what they alone are told.

#![expect(clippy::indexing_slicing, reason = "what is missing in a message's JSON is null")]

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use yuba_end_to_end::post_as_slack;
use yuba_fake_slack::{FakeSlack, Message};

type Done<T> = Result<T, Box<dyn Error>>;

/// How often it is looked whether something came, ten times a second.
const PATIENCE: usize = 600;

fn main() -> Done<()> {
    let dir = std::env::args().nth(1).ok_or("usage: demo-slack DIR")?;
    let (dir, slack) = (Path::new(&dir), FakeSlack::start(&["infra"]));
    fs::write(dir.join("slack.api"), slack.api())?;
    fs::write(dir.join("slack.token"), FakeSlack::TOKEN)?;
    fs::write(dir.join("slack.secret"), FakeSlack::SIGNING_SECRET)?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    fs::write(dir.join("slack.port"), listener.local_addr()?.port().to_string())?;
    for (number, stream) in listener.incoming().enumerate() {
        let mut stream = stream?;
        let said = answer(&slack, &stream, number).unwrap_or_else(|error| format!("error: {error}"));
        writeln!(stream, "{said}")?;
    }
    Ok(())
}

fn answer(slack: &FakeSlack, stream: &TcpStream, number: usize) -> Done<String> {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line)?;
    let words: Vec<&str> = line.trim().splitn(5, ' ').collect();
    match *words.as_slice() {
        ["show", ..] => Ok(shown(&message(slack, line.trim().trim_start_matches("show "))?)),
        ["press", button, user, server, text] => {
            let message = message(slack, text)?;
            let name = format!("{user}-{number}");
            let payload = slack.press(&message, button, user, &name);
            let status = post_as_slack(server, "/slack/interactive", &payload)?;
            if status != 200 {
                return Err(format!("the press was answered with status {status}").into());
            }
            told(slack, &name)
        }
        _ => Err("show TEXT, or press BUTTON USER SERVER TEXT".into()),
    }
}

/// The newest message that shows a text.
fn message(slack: &FakeSlack, text: &str) -> Done<Message> {
    once(&format!("no message shows `{text}`"), || slack.messages_with(text).pop())
}

/// What was answered in private.
fn told(slack: &FakeSlack, name: &str) -> Done<String> {
    let path = format!("/response/{name}");
    let body = once("nobody was told what became of the press", || slack.calls(&path).pop())?;
    Ok(body["text"].as_str().unwrap_or_default().to_owned())
}

fn once<T>(why: &str, look: impl Fn() -> Option<T>) -> Done<T> {
    for _ in 0..PATIENCE {
        if let Some(found) = look() {
            return Ok(found);
        }
        thread::sleep(Duration::from_millis(100));
    }
    Err(why.into())
}

/// A message's blocks, a line each; buttons in brackets.
fn shown(message: &Message) -> String {
    let texts = |block: &Value| -> Vec<String> {
        let held = block["elements"].as_array().into_iter().flatten();
        held.filter_map(|element| element["text"].as_str().map(str::to_owned)).collect()
    };
    let line = |block: &Value| match block["type"].as_str() {
        Some("actions") => {
            let buttons = block["elements"].as_array().into_iter().flatten();
            let labels: Vec<&str> = buttons.filter_map(|button| button["text"]["text"].as_str()).collect();
            format!("[{}]", labels.join("] ["))
        }
        Some("context") => texts(block).join(" | "),
        _ => block["text"]["text"].as_str().unwrap_or_default().to_owned(),
    };
    let blocks = message.body["blocks"].as_array().into_iter().flatten();
    blocks.map(line).collect::<Vec<String>>().join("\n")
}
