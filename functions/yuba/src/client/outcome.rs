//! What became of what was asked for: a line each for people as it comes, one list for programs at the end.

use std::process::ExitCode;

use anyhow::Result;
use serde::Serialize;

use super::ask::Asker;
use super::follow::End;
use super::get::print_list;
use super::http::Answer;
use super::{print, tell};
use crate::done::code::{FAILED, FINE, REFUSED};

/// What became of all that a verb asked for.
pub(super) struct Outcomes<'a> {
    asker: &'a Asker<'a>,
    /// What shows how a stack fares, or a provider.
    looked_up: LookedUp,
    /// The exit code that a refusal makes.
    refused: u8,
    items: Vec<Item>,
    worst: u8,
}

/// Where people look for what was not decided in time.
#[derive(Debug, Clone, Copy)]
pub(super) enum LookedUp {
    /// A stack.
    Stack,
    /// A provider of notifications.
    Provider,
}

impl LookedUp {
    fn verb(self) -> &'static str {
        match self {
            Self::Stack => "describe",
            Self::Provider => "get provider",
        }
    }
}

/// What became of one thing that was asked for.
#[derive(Debug, Serialize)]
struct Item {
    namespace: String,
    name: String,
    /// `done`, `refused`, `pending`.
    outcome: &'static str,
    message: String,
    run: Option<String>,
    /// The state of the run, where it was followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<String>,
}

impl<'a> Outcomes<'a> {
    /// Nothing was asked for yet.
    pub(super) fn new(asker: &'a Asker<'a>, looked_up: LookedUp) -> Self {
        Self { asker, looked_up, refused: REFUSED, items: Vec::new(), worst: FINE }
    }

    /// Refusals are told and make no exit code: the stacks were not named one by one.
    pub(super) fn without_refusals(self) -> Self {
        Self { refused: FINE, ..self }
    }

    /// Takes the answer about a stack, or something else of this full name, that somebody typed as told.
    pub(super) fn hear(&mut self, typed: &str, name: &str, answer: &Answer) -> Result<()> {
        let (outcome, code, message, run) = match answer {
            Answer::Done(state) => ("done", FINE, state.message.clone(), state.run.clone()),
            Answer::Refused(why) => ("refused", self.refused, why.clone(), None),
            Answer::Undecided => {
                let verb = self.looked_up.verb();
                let message = format!("accepted, not decided yet: see `yuba {verb} {name}`");
                ("pending", FAILED, message, None)
            }
        };
        self.weigh(code);
        if self.asker.is_for_people() {
            match answer {
                Answer::Done(_) => print(&format!("{typed}: {message}\n"))?,
                Answer::Refused(_) => tell(&format!("refused: {typed}: {message}")),
                Answer::Undecided => tell(&format!("error: {typed}: {message}")),
            }
        }
        let (namespace, name) = name.split_once('/').unwrap_or(("", name));
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        self.items.push(Item { namespace, name, outcome, message, run, state: None });
        Ok(())
    }

    /// Takes how the run ended that came of what was asked for as the nth, counted from 0.
    pub(super) fn ended(&mut self, nth: usize, end: &End) {
        if let Some(item) = self.items.get_mut(nth) {
            (item.run, item.state) = (Some(end.run.clone()), Some(end.state.clone()));
        }
    }

    /// The highest exit code counts.
    pub(super) fn weigh(&mut self, code: u8) {
        self.worst = self.worst.max(code);
    }

    /// Prints the list for programs; the exit code of the verb.
    pub(super) fn finish(self) -> Result<ExitCode> {
        if !self.asker.is_for_people() {
            print_list(self.asker, &self.items, |_| String::new())?;
        }
        Ok(ExitCode::from(self.worst))
    }
}
