//! The messages of one group of a batch: handled in their order up to the first that fail, and what becomes of those.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{Instant, timeout, timeout_at};
use tracing::Instrument;
use tracing::field::Empty;
use yuba_core::message::Message;
use yuba_core::time::Span;
use yuba_ports::{Next, PortError, Remedy, chain};

use super::batch::Record;
use super::work::Settle;

/// How long giving back may take: less than is left for the answer where time is up.
const GIVING_BACK: Duration = Duration::from_millis(600);

/// What messages are handled with.
pub(super) struct Line<'a, S> {
    /// Until when.
    pub(super) until: Instant,
    /// How many of a group are handled together, at most.
    pub(super) most: usize,
    /// Where they come from.
    pub(super) settle: &'a S,
}

impl<S: Settle> Line<'_, S> {
    /// Handles the messages of a group up to the first that fail; those and all after them come again, unless the first of
    /// them is to be set aside. Says which come again.
    pub(super) async fn handle<'r, F>(
        &self,
        group: &'r [Record],
        handle: impl Fn(Vec<Message>) -> F,
    ) -> &'r [Record]
    where
        F: Future<Output = Result<(), PortError>>,
    {
        let mut left = group;
        while let Some(first) = left.first() {
            let trace = first.trace();
            let (id, times) = (&first.message_id, first.receives());
            let span = tracing::info_span!(
                "message",
                id,
                times,
                trace = trace.id(),
                cause = Empty,
                together = Empty
            );
            let settled = async {
                match self.handle_some(left, &handle).await {
                    Ok(count) => Some(count),
                    Err(why) => self.failed(first, left, &why).await,
                }
            };
            let Some(count) = trace.scope(settled).instrument(span).await else { break };
            left = left.get(count..).unwrap_or_default();
        }
        left
    }

    /// The same, and what is done does not come again whatever becomes of the batch.
    pub(super) async fn handle_and_settle<'r, F>(
        &self,
        group: &'r [Record],
        handle: impl Fn(Vec<Message>) -> F,
    ) -> &'r [Record]
    where
        F: Future<Output = Result<(), PortError>>,
    {
        let left = self.handle(group, handle).await;
        let done = group.get(..group.len().saturating_sub(left.len())).unwrap_or_default();
        for told in join_all(done.iter().map(|record| self.settle.done(record))).await {
            if let Err(error) = told {
                tracing::warn!(error = chain(&error), "that a message is done is told with the batch alone");
            }
        }
        left
    }

    /// What follows where the first messages of those that are left failed: how many of them do not come again; `None`
    /// where all of them do.
    async fn failed(&self, first: &Record, left: &[Record], why: &NotDone) -> Option<usize> {
        match Next::after_failure(why.remedy(), first.receives()) {
            Next::Again(pause) => {
                tracing::error!(why = chain(why), ?pause, "a message comes again");
                self.give_back(left, pause).await;
                None
            }
            Next::SetAside => self.set_aside(first, &chain(why)).await,
        }
    }

    /// Makes a message a dead letter. Where that fails, it comes again.
    async fn set_aside(&self, record: &Record, why: &str) -> Option<usize> {
        if let Err(error) = self.settle.set_aside(record, why).await {
            tracing::error!(
                why,
                error = chain(&error),
                "a message cannot become a dead letter, and comes again"
            );
            return None;
        }
        tracing::error!(why, "a message becomes a dead letter");
        Some(1)
    }

    /// Gives messages back: as long as any of them is hidden, none of the group comes. One that cannot be given back comes when
    /// the queue hides it no more.
    async fn give_back(&self, records: &[Record], pause: Span) {
        let given = join_all(records.iter().map(|record| self.settle.give_back(record, pause)));
        let Ok(given) = timeout(GIVING_BACK, given).await else {
            return tracing::warn!("messages cannot be given back in time, and come later");
        };
        for error in given.into_iter().filter_map(Result::err) {
            tracing::warn!(error = chain(&error), "a message cannot be given back, and comes later");
        }
    }

    /// Handles the first messages together, at most as many as the function takes, up to one that cannot be read; says how many.
    async fn handle_some<F>(
        &self,
        records: &[Record],
        handle: impl Fn(Vec<Message>) -> F,
    ) -> Result<usize, NotDone>
    where
        F: Future<Output = Result<(), PortError>>,
    {
        let came_before = records.first().is_some_and(|first| first.receives() > 1);
        let most = if came_before { 1 } else { self.most };
        let mut messages: Vec<Message> = Vec::new();
        for record in records.iter().take(most) {
            match serde_json::from_str(&record.body) {
                Ok(message) => messages.push(message),
                Err(error) if messages.is_empty() => return Err(NotDone::Unreadable(error)),
                Err(_) => break,
            }
        }
        let (count, cause) = (messages.len(), messages.first().map(Message::deduplication_id));
        tracing::Span::current().record("cause", cause).record("together", count);
        if Instant::now() >= self.until {
            return Err(NotDone::TimeIsUp);
        }
        let handled = timeout_at(self.until, handle(messages)).await;
        handled.map_err(|_| NotDone::TimeIsUp)?.map_err(NotDone::Failed)?;
        Ok(count)
    }
}

/// Why a message was not handled.
#[derive(Debug, thiserror::Error)]
enum NotDone {
    #[error("it cannot be read")]
    Unreadable(#[source] serde_json::Error),
    #[error("it could not be handled")]
    Failed(#[source] PortError),
    #[error("the function's time is up")]
    TimeIsUp,
}

impl NotDone {
    /// What may mend it. What this version cannot read, the next one may while they take turns.
    fn remedy(&self) -> Remedy {
        match self {
            Self::Unreadable(_) => Remedy::Permanent,
            Self::Failed(error) => error.remedy,
            Self::TimeIsUp => Remedy::Transient,
        }
    }
}
