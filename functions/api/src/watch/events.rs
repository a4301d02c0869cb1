//! Events as they are published.

use std::collections::{BTreeSet, VecDeque};
use std::convert::Infallible;

use axum::response::sse::Event as SseEvent;
use futures_util::Stream;
use futures_util::stream::unfold;
use yuba_core::event::Event;
use yuba_core::record::{Index, sortable};
use yuba_core::time::Span;
use yuba_ports::PortError;

use super::BETWEEN_READS;
use crate::Api;
use crate::lookup;
use crate::view;

/// Events may be published later than they happened; looks reach back this far for them.
const LATE: Span = Span::minutes(5);

/// How many events are read at once.
const AT_ONCE: usize = 100;

/// Sends events that are published from now on, or after the one at the place that `last` names.
pub(crate) fn changes(
    api: Api,
    last: Option<&str>,
) -> impl Stream<Item = Result<SseEvent, Infallible>> + use<> {
    let now = place(api.ports.clock.now(), "");
    let tail = Tail {
        api,
        from: last.map_or(now, ToOwned::to_owned),
        seen: BTreeSet::new(),
        ready: VecDeque::new(),
    };
    unfold(tail, |mut tail| async move {
        let event = tail.next().await?;
        Some((Ok(event), tail))
    })
}

/// Where an event stands in the index of events.
fn place(at: yuba_core::time::Timestamp, id: &str) -> String {
    format!("{}#{id}", sortable(at))
}

struct Tail {
    api: Api,
    from: String,
    seen: BTreeSet<String>,
    ready: VecDeque<SseEvent>,
}

impl Tail {
    async fn next(&mut self) -> Option<SseEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            match self.look().await {
                Ok(events) => self.ready.extend(events),
                Err(error) => {
                    tracing::error!(error = &error as &dyn std::error::Error, "events cannot be followed");
                    return None;
                }
            }
            if self.ready.is_empty() {
                tokio::time::sleep(BETWEEN_READS).await;
            }
        }
    }

    /// What is new, oldest first.
    async fn look(&mut self) -> Result<Vec<SseEvent>, PortError> {
        let horizon = place(self.api.ports.clock.now() - LATE, "");
        let mut fresh = Vec::new();
        let mut after = None;
        loop {
            let query = lookup::newest(Index::Events, after, AT_ONCE);
            let (events, next) = lookup::values::<Event>(&*self.api.ports.store, query).await?;
            let reached = events
                .iter()
                .map(|event| (place(event.at, &event.id()), event))
                .take_while(|(at, _)| *at > self.from);
            let before = fresh.len();
            fresh.extend(reached.map(|(at, event)| (at, event.clone())));
            after = next;
            if after.is_none() || fresh.len() - before < events.len() {
                break;
            }
        }
        self.from = self.from.clone().max(horizon);
        self.seen.retain(|at| *at > self.from);
        fresh.reverse();
        Ok(fresh.into_iter().filter_map(|(at, event)| self.send(at, &event)).collect())
    }

    /// The event, unless it was sent before.
    fn send(&mut self, at: String, event: &Event) -> Option<SseEvent> {
        if !self.seen.insert(at.clone()) {
            return None;
        }
        SseEvent::default().event(event.kind.as_type()).id(at).json_data(view::event(event)).ok()
    }
}
