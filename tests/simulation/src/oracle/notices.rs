//! What people and programs are told: each event arrives wherever the alerts send it, or is visibly given up; each message of
//! a run shows in the end how the run stands; whoever pressed a button hears what became of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use yuba_core::event::Event;
use yuba_core::id::{RunId, StackId};
use yuba_core::notify::{NoticeState, Notification, Occasion, Said, SlackThread, drift_stands};
use yuba_core::record::Record;
use yuba_core::request::{Outcome, Request};
use yuba_core::run::{RunState, Waiting};
use yuba_core::slack::card::RunCard;
use yuba_core::time::{Span, Timestamp};
use yuba_ports::Item;
use yuba_ports::records::Versioned;

use crate::people::PROVIDERS;
use crate::serving::WEB;
use crate::world::{State, World};

/// Events that were made so shortly after the alerts came into force may have been told of before, by another clock.
const BLUR: Span = Span::minutes(5);
/// What was settled longer ago may be forgotten.
const KEPT: Span = Span::hours(6 * 24);

/// What the records say of notices in the end.
struct Notices {
    all: Vec<Notification>,
    threads: Vec<SlackThread>,
    requests: Vec<Request>,
}

impl Notices {
    fn of(world: &World) -> Self {
        let records = world.records();
        Self {
            all: [read(&records, "notices#"), read(&records, "settled-notices#")].concat(),
            threads: read(&records, "slack-threads#"),
            requests: read(&records, "request#"),
        }
    }

    fn of_event(&self, provider: &str, event: (StackId, u64)) -> Option<&Notification> {
        let is = |notification: &&Notification| {
            let Occasion::Alert { stack, event: number, .. } = notification.of else { return false };
            (stack, number) == event && notification.provider.to_string() == provider
        };
        self.all.iter().find(is)
    }
}

fn read<T: Record>(records: &[Item], partition: &str) -> Vec<T> {
    let of = records.iter().filter(|item| item.key.partition.starts_with(partition));
    of.filter_map(|item| Versioned::<T>::from_item(item.clone()).ok().map(Versioned::into_value)).collect()
}

/// What somebody was never told, or was told and is not so.
pub(super) fn untold(world: &World) -> Option<String> {
    let notices = Notices::of(world);
    let state = world.state();
    state.oracle.alerts_since?;
    let waits = |notification: &&Notification| matches!(notification.state, NoticeState::Pending { .. });
    if let Some(late) = notices.all.iter().find(waits) {
        let why = late.trouble.as_deref().unwrap_or("nobody tried");
        return Some(format!("{} was never told of {}: {why}", late.provider, late.of.id()));
    }
    let events = state.told_events(&notices);
    let events = events.iter().find_map(|event| state.untold_event(&notices, event));
    events
        .or_else(|| state.unheard_press(&notices))
        .or_else(|| notices.threads.iter().find_map(|thread| state.paints_an_older_truth(&notices, thread)))
}

impl State {
    /// The events that must have been told: those made while alerts choose all, of which no message was given up.
    fn told_events(&self, notices: &Notices) -> Vec<&Event> {
        let from = self.oracle.alerts_since.map_or(self.now, |since| since + BLUR);
        let mut said: BTreeMap<String, u32> = BTreeMap::new();
        for event in self.oracle.events.values() {
            *said.entry(Said::of(event, Timestamp(0)).digest).or_default() += 1;
        }
        let is_alone = |event: &Event| said.get(&Said::of(event, Timestamp(0)).digest) == Some(&1);
        let is_owed = |event: &&Event| {
            let place = (event.stack, event.number);
            let is_known = notices.of_event(PROVIDERS[0], place).is_some();
            event.at >= from
                && self.now.since(event.at) < KEPT
                && !self.oracle.refused_events.contains(&place)
                && !self.oracle.given_up.contains(&event.id())
                && (is_known || is_alone(event))
        };
        self.oracle.events.values().filter(is_owed).collect()
    }

    fn untold_event(&self, notices: &Notices, event: &Event) -> Option<String> {
        let place = (event.stack, event.number);
        for provider in PROVIDERS {
            let Some(notification) = notices.of_event(provider, place) else {
                return Some(format!(
                    "{provider} was never told of event {} of {}",
                    event.number, event.name
                ));
            };
            let is_sent = matches!(notification.state, NoticeState::Sent { .. });
            if is_sent && provider == PROVIDERS[0] && !self.services.events.contains_key(&place) {
                let what = "counts as told, and never arrived";
                return Some(format!("event {} of {} {what} at {provider}", event.number, event.name));
            }
        }
        None
    }

    /// What was pressed and taken has an outcome.
    fn unheard_press(&self, notices: &Notices) -> Option<String> {
        self.oracle.presses.iter().find_map(|address| {
            let is_its = |request: &&Request| {
                request.reply.as_ref().and_then(|reply| reply.response_url.as_ref()) == Some(address)
            };
            let Some(request) = notices.requests.iter().find(is_its) else {
                return Some(format!(
                    "the press that is answered at {address} was taken and left no request"
                ));
            };
            let is_given_up = self.oracle.given_up.contains(&request.id.to_string());
            (request.outcome == Outcome::Pending && !is_given_up)
                .then(|| format!("request {} was pressed for and never decided", request.id))
        })
    }

    /// The message of a run shows another state than the run has, though all that happened to it was told.
    fn paints_an_older_truth(&self, notices: &Notices, thread: &SlackThread) -> Option<String> {
        let posted = thread.posted.as_ref()?;
        let shown = self.services.messages.get(&posted.ts)?.last()?;
        let run = self.oracle.runs.get(&thread.run)?;
        // That an approved plan waits for something else than people is no event: nobody is told of it.
        let is_asked = matches!(run.waits_for, Waiting::Approval | Waiting::Approvals(_));
        let waits_untold = run.state == RunState::AwaitingApproval && !is_asked;
        // Drift that was gone and came back is told of by the run that found it then; an answer to it ends without an event.
        let is_of_drift = run.state == RunState::Drifted;
        if waits_untold || is_of_drift || self.is_cut_off(notices, thread.stack, thread.run) {
            return None;
        }
        let stack = self.oracle.stacks.get(&thread.stack)?;
        let url = format!("{WEB}/runs/{}", run.id);
        let card = RunCard {
            run,
            summary: None,
            url: Some(&url),
            has_buttons: true,
            drift_stands: drift_stands(stack, run),
            drift_answer: stack.drift_answer(self.now),
        };
        let card = card.draw();
        let drawn = json!({ "text": card.text, "blocks": card.blocks });
        (essence(shown) != essence(&drawn)).then(|| {
            let (is, should) = (essence(shown), essence(&drawn));
            format!(
                "the message of run {} of {} shows {is:?}, and should show {should:?}",
                run.number, run.name
            )
        })
    }

    /// Whether something of a run was given up: its message may show what it was before.
    fn is_cut_off(&self, notices: &Notices, stack: StackId, run: RunId) -> bool {
        let is_given_up = |notification: &Notification| {
            matches!(notification.state, NoticeState::GivenUp { .. })
                && notification.of.run() == Some((stack, run))
        };
        let of_stack = |event: &&Event| event.stack == stack;
        notices.all.iter().any(is_given_up)
            || self.oracle.refused_events.iter().any(|(of, _)| *of == stack)
            || self
                .oracle
                .events
                .values()
                .filter(of_stack)
                .any(|event| self.oracle.given_up.contains(&event.id()))
    }
}

/// What matters in a message: its headline, and which buttons it has.
fn essence(message: &Value) -> (String, BTreeSet<String>) {
    let headline = message.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    let blocks = message.get("blocks").and_then(Value::as_array).into_iter().flatten();
    let elements = blocks.filter_map(|block| block.get("elements").and_then(Value::as_array)).flatten();
    let action = |element: &Value| element.get("action_id").and_then(Value::as_str).map(str::to_owned);
    (headline, elements.filter_map(action).collect())
}
