//! A run's log as it grows, with the run's state and progress beside it.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::response::sse::Event;
use futures_util::Stream;
use futures_util::stream::unfold;
use yuba_core::attempt::{Attempt, Progress};
use yuba_core::id::{AttemptId, RunId, StackId};
use yuba_core::job::{attempt_prefix, object};
use yuba_core::record::Key;
use yuba_core::run::{Run, RunState};
use yuba_ports::{Blobs, PortError};

use super::BETWEEN_READS;
use crate::Api;
use crate::lookup;
use crate::view::run as view;

/// The piece of which an attempt's header alone was sent: it sorts before the name of any piece.
const HEADED: &str = ".";
/// How many pieces of a log are read at once.
const PIECES_AT_ONCE: usize = 100;

/// The log of all attempts of a run, oldest first, as far as they have come.
pub(crate) async fn whole_log(blobs: &dyn Blobs, run: &Run) -> Result<String, PortError> {
    let mut log = String::new();
    for note in &run.attempts {
        log.push_str(&header(note.id));
        match blobs.get(&log_key(run.stack, note.id)).await? {
            Some(bytes) => log.push_str(&String::from_utf8_lossy(&bytes)),
            None => log.push_str(&pieces_after(blobs, run.stack, note.id).await?),
        }
        if !log.ends_with('\n') {
            log.push('\n');
        }
    }
    Ok(log)
}

fn header(attempt: AttemptId) -> String {
    format!("── {} {} ──\n", attempt.phase, attempt.number)
}

fn log_key(stack: StackId, attempt: AttemptId) -> String {
    format!("{}{}", attempt_prefix(stack, attempt), object::LOG)
}

fn pieces_prefix(stack: StackId, attempt: AttemptId) -> String {
    format!("{}{}", attempt_prefix(stack, attempt), object::LOG_PIECES)
}

/// All pieces of an attempt's log, joined.
async fn pieces_after(blobs: &dyn Blobs, stack: StackId, attempt: AttemptId) -> Result<String, PortError> {
    let prefix = pieces_prefix(stack, attempt);
    let (mut joined, mut after) = (Vec::new(), None::<String>);
    loop {
        let keys = blobs.list(&prefix, after.as_deref(), PIECES_AT_ONCE).await?;
        let Some(last) = keys.last().cloned() else { break };
        for key in &keys {
            joined.extend(blobs.get(key).await?.unwrap_or_default());
        }
        after = Some(last);
    }
    Ok(String::from_utf8_lossy(&joined).into_owned())
}

/// Follows a run until it ends, from after the place that `last` names.
pub(crate) fn follow(
    api: Api,
    run: &Run,
    last: Option<&str>,
) -> impl Stream<Item = Result<Event, Infallible>> + use<> {
    let follower = Follower {
        api,
        stack: run.stack,
        run: run.id,
        place: last.and_then(Place::parse).unwrap_or_default(),
        state: None,
        progress: None,
        ready: VecDeque::new(),
        ended: false,
    };
    unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        Some((Ok(event), follower))
    })
}

/// How far a log was sent: which attempt of the run, counted from 0, and the last piece of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Place {
    attempt: usize,
    piece: String,
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        let (attempt, piece) = text.split_once(':')?;
        let plain = piece.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
        plain.then_some(Self { attempt: attempt.parse().ok()?, piece: piece.to_owned() })
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}", self.attempt, self.piece)
    }
}

struct Follower {
    api: Api,
    stack: StackId,
    run: RunId,
    place: Place,
    state: Option<RunState>,
    progress: Option<Progress>,
    ready: VecDeque<Event>,
    ended: bool,
}

impl Follower {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.ended {
                return None;
            }
            if let Err(error) = self.look().await {
                tracing::error!(run = %self.run, error = &error as &dyn std::error::Error, "a log cannot be followed");
                return None;
            }
            if self.ready.is_empty() {
                tokio::time::sleep(BETWEEN_READS).await;
            }
        }
    }

    /// One look: what is new of log, state and progress. The run is read before its log, so that a log is whole once
    /// the run says that it has ended.
    async fn look(&mut self) -> Result<(), PortError> {
        let found = lookup::run_of(&*self.api.ports.store, self.stack, Some(self.run)).await?;
        let Some(run) = found else {
            self.ended = true;
            return Ok(());
        };
        self.look_at_log(&run).await?;
        self.look_at_progress(&run).await?;
        let item = view::item(&run);
        if self.state != Some(run.state) {
            self.state = Some(run.state);
            self.send("state", &item);
        }
        if run.state.is_terminal() {
            self.ended = true;
            self.send("end", &item);
        }
        Ok(())
    }

    async fn look_at_log(&mut self, run: &Run) -> Result<(), PortError> {
        while let Some(note) = run.attempts.get(self.place.attempt) {
            if self.place.piece.is_empty() {
                HEADED.clone_into(&mut self.place.piece);
                self.send_log(&header(note.id));
            }
            self.send_pieces(note.id).await?;
            if note.ended.is_none() {
                return Ok(());
            }
            if self.place.piece == HEADED {
                self.send_whole(note.id).await?;
            }
            self.place = Place { attempt: self.place.attempt + 1, piece: String::new() };
        }
        Ok(())
    }

    async fn send_pieces(&mut self, attempt: AttemptId) -> Result<(), PortError> {
        let prefix = pieces_prefix(self.stack, attempt);
        loop {
            let after = Some(format!("{prefix}{}", self.place.piece));
            let keys = self.api.ports.blobs.list(&prefix, after.as_deref(), PIECES_AT_ONCE).await?;
            if keys.is_empty() {
                return Ok(());
            }
            for key in keys {
                let bytes = self.api.ports.blobs.get(&key).await?.unwrap_or_default();
                key.trim_start_matches(&prefix).clone_into(&mut self.place.piece);
                self.send_log(&String::from_utf8_lossy(&bytes));
            }
        }
    }

    /// The log of an attempt that has ended and left no pieces.
    async fn send_whole(&mut self, attempt: AttemptId) -> Result<(), PortError> {
        if let Some(bytes) = self.api.ports.blobs.get(&log_key(self.stack, attempt)).await? {
            object::LOG.clone_into(&mut self.place.piece);
            self.send_log(&String::from_utf8_lossy(&bytes));
        }
        Ok(())
    }

    async fn look_at_progress(&mut self, run: &Run) -> Result<(), PortError> {
        let Some(out) = run.attempt_out() else { return Ok(()) };
        let attempt = lookup::read::<Attempt>(&*self.api.ports.store, &Key::attempt(out)).await?;
        let Some(attempt) = attempt.filter(|attempt| attempt.progress != self.progress) else {
            return Ok(());
        };
        self.progress.clone_from(&attempt.progress);
        if let Some(progress) = view::progress(&attempt) {
            self.send("progress", &progress);
        }
        Ok(())
    }

    fn send_log(&mut self, text: &str) {
        let id = self.place.to_string();
        self.ready.extend(Event::default().event("log").id(id).json_data(text).ok());
    }

    fn send(&mut self, kind: &str, data: &impl serde::Serialize) {
        self.ready.extend(Event::default().event(kind).json_data(data).ok());
    }
}

#[cfg(test)]
mod tests {
    use super::Place;

    #[test]
    fn a_place_is_read_back_and_names_no_other_object() {
        let place = Place { attempt: 1, piece: "000012".to_owned() };
        assert_eq!(Place::parse(&place.to_string()), Some(place));
        assert_eq!(Place::parse("0:../../x"), None);
        assert_eq!(Place::parse("x"), None);
    }
}
