//! Batches of messages as Lambda hands them over, and the answer that says which of them come again.
//!
//! Messages of one group are handled in their order, as many together as the function takes, groups beside one another.
//! Messages that fail fail the rest of their group, which come again after them; other groups go on. One that comes again
//! is handled alone, so that it fails with others once at most. One that cannot be read fails too: it comes again until
//! the queue moves it to its dead-letter queue. Nothing is ever dropped here.

use std::collections::HashMap;

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout_at};
use tracing::Instrument;
use tracing::field::Empty;
use yuba_core::message::Message;
use yuba_ports::{PortError, chain};

use crate::trace::{TRACEPARENT, TraceContext};

/// What Lambda hands over.
/// <https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html>
#[derive(Debug, Default, Deserialize)]
pub(super) struct Batch {
    /// The messages; none where somebody calls the function by hand.
    #[serde(rename = "Records", default)]
    pub(super) records: Vec<Record>,
}

/// A message of a batch.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Record {
    message_id: String,
    body: String,
    attributes: Attributes,
    #[serde(default)]
    message_attributes: HashMap<String, MessageAttribute>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Attributes {
    /// Milliseconds since 1970.
    sent_timestamp: String,
    #[serde(default)]
    message_group_id: String,
    #[serde(default)]
    approximate_receive_count: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageAttribute {
    string_value: Option<String>,
}

/// Which messages come again.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer {
    batch_item_failures: Vec<Failure>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Failure {
    item_identifier: String,
}

impl Record {
    /// When it was sent, in milliseconds since 1970.
    pub(super) fn sent(&self) -> Option<i64> {
        self.attributes.sent_timestamp.parse().ok()
    }

    /// Whether it came before, and was not handled then.
    fn came_before(&self) -> bool {
        self.attributes.approximate_receive_count.parse().is_ok_and(|times: u32| times > 1)
    }

    /// The trace that it goes on in, or a new one.
    fn trace(&self) -> TraceContext {
        let sent = self.message_attributes.get(TRACEPARENT).and_then(|it| it.string_value.as_deref());
        sent.and_then(TraceContext::parse).map_or_else(TraceContext::begin, TraceContext::next)
    }
}

/// Handles a batch until a moment, at most `most` messages of a group together: what is under way then, or has not begun,
/// comes again.
pub(super) async fn handle_all<F>(
    batch: Batch,
    until: Instant,
    most: usize,
    handle: impl Fn(Vec<Message>) -> F + Copy,
) -> Answer
where
    F: Future<Output = Result<(), PortError>>,
{
    let groups = groups(batch.records);
    let handled = groups.iter().map(|group| handle_group(group, until, most, handle));
    Answer { batch_item_failures: join_all(handled).await.into_iter().flatten().collect() }
}

/// The messages of each group, in their order.
fn groups(records: Vec<Record>) -> Vec<Vec<Record>> {
    let mut groups: Vec<Vec<Record>> = Vec::new();
    for record in records {
        let id = &record.attributes.message_group_id;
        let is_its = |group: &&mut Vec<Record>| {
            group.first().is_some_and(|first| first.attributes.message_group_id == *id)
        };
        match groups.iter_mut().find(is_its) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    groups
}

/// Handles the messages of a group up to the first that fail; those and all after them come again.
async fn handle_group<F>(
    group: &[Record],
    until: Instant,
    most: usize,
    handle: impl Fn(Vec<Message>) -> F,
) -> Vec<Failure>
where
    F: Future<Output = Result<(), PortError>>,
{
    let mut left = group;
    while let Some(first) = left.first() {
        let trace = first.trace();
        let (id, times) = (&first.message_id, &first.attributes.approximate_receive_count);
        let span =
            tracing::info_span!("message", id, times, trace = trace.id(), cause = Empty, together = Empty);
        let most = if first.came_before() { 1 } else { most };
        let handled = trace.scope(handle_some(left, most, until, &handle)).instrument(span.clone()).await;
        match handled {
            Ok(count) => left = left.get(count..).unwrap_or_default(),
            Err(why) => {
                span.in_scope(|| tracing::error!(why = chain(&why), "a message comes again"));
                break;
            }
        }
    }
    left.iter().map(|record| Failure { item_identifier: record.message_id.clone() }).collect()
}

/// Why a message comes again.
#[derive(Debug, thiserror::Error)]
enum NotDone {
    #[error("it cannot be read, and comes again until it is a dead letter")]
    Unreadable(#[source] serde_json::Error),
    #[error("it could not be handled")]
    Failed(#[source] PortError),
    #[error("the function's time is up")]
    TimeIsUp,
}

/// Handles the first messages together, at most `most`, up to one that cannot be read; says how many.
async fn handle_some<F>(
    records: &[Record],
    most: usize,
    until: Instant,
    handle: impl Fn(Vec<Message>) -> F,
) -> Result<usize, NotDone>
where
    F: Future<Output = Result<(), PortError>>,
{
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
    if Instant::now() >= until {
        return Err(NotDone::TimeIsUp);
    }
    let handled = timeout_at(until, handle(messages)).await;
    handled.map_err(|_| NotDone::TimeIsUp)?.map_err(NotDone::Failed)?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;

    const TRACE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    /// As Lambda hands it over, with what is of no use here left out.
    fn record(id: &str, group: &str, body: &str) -> Value {
        json!({
            "messageId": id,
            "receiptHandle": "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a…",
            "body": body,
            "attributes": {
                "ApproximateReceiveCount": "1",
                "SentTimestamp": "1767225600000",
                "MessageGroupId": group,
                "MessageDeduplicationId": id,
            },
            "messageAttributes": { "traceparent": { "stringValue": TRACE, "dataType": "String" } },
            "eventSource": "aws:sqs",
        })
    }

    fn wakes(source: &str) -> String {
        json!({ "schema": 1, "wake": { "source": format!("default/{source}") }, "cause": { "delivery": source } })
            .to_string()
    }

    fn batch(records: &[Value]) -> Batch {
        serde_json::from_value(json!({ "Records": records })).unwrap()
    }

    /// Which messages come again, and whom were woken, where those for `failing` fail and those for `slow` never end.
    async fn handled(batch: Batch) -> (Vec<String>, Vec<String>) {
        handled_together(batch, 1).await
    }

    /// The same, as many together as that; whoever was woken together stands in one text.
    async fn handled_together(batch: Batch, most: usize) -> (Vec<String>, Vec<String>) {
        let woken = Mutex::new(Vec::new());
        let answer = handle_all(batch, Instant::now() + Duration::from_millis(50), most, |messages| {
            let sources = messages.into_iter().map(|message| match message.wake {
                yuba_core::message::Wake::Source(source) => source.to_string(),
                other => panic!("{other:?}"),
            });
            let sources = sources.collect::<Vec<_>>().join(" ");
            woken.lock().unwrap().push(sources.clone());
            async move {
                match sources {
                    some if some.contains("failing") => Err(PortError::transient("no")),
                    some if some.contains("slow") => std::future::pending().await,
                    _ => Ok(()),
                }
            }
        });
        let again = answer.await.batch_item_failures.into_iter().map(|failure| failure.item_identifier);
        (again.collect(), woken.into_inner().unwrap())
    }

    #[tokio::test]
    async fn a_failed_message_fails_the_rest_of_its_group_alone() {
        let records = [
            record("1", "a", &wakes("one")),
            record("2", "a", &wakes("failing")),
            record("3", "b", &wakes("two")),
            record("4", "a", &wakes("three")),
            record("5", "b", &wakes("four")),
        ];
        let (again, mut woken) = handled(batch(&records)).await;
        assert_eq!(again, ["2", "4"]);
        woken.sort();
        assert_eq!(woken, ["default/failing", "default/four", "default/one", "default/two"]);
    }

    #[tokio::test]
    async fn messages_of_a_group_are_handled_together_and_what_comes_again_alone() {
        let again = |id: &str, source: &str| {
            let mut record = record(id, "a", &wakes(source));
            record["attributes"]["ApproximateReceiveCount"] = json!("2");
            record
        };
        let fresh = |id: &str, source: &str| record(id, "a", &wakes(source));
        let records = [
            again("1", "one"),
            again("2", "two"),
            fresh("3", "three"),
            fresh("4", "four"),
            fresh("5", "five"),
            record("6", "b", &wakes("six")),
            fresh("7", "failing"),
            record("8", "a", "{}"),
            fresh("9", "nine"),
        ];
        let (comes_again, mut woken) = handled_together(batch(&records), 3).await;
        assert_eq!(comes_again, ["7", "8", "9"]);
        woken.sort();
        assert_eq!(
            woken,
            [
                "default/failing",
                "default/one",
                "default/six",
                "default/three default/four default/five",
                "default/two"
            ]
        );
    }

    #[tokio::test]
    async fn a_message_that_cannot_be_read_fails() {
        let records = [record("1", "a", "{}"), record("2", "b", &wakes("one"))];
        assert_eq!(handled(batch(&records)).await, (vec!["1".to_owned()], vec!["default/one".to_owned()]));
    }

    #[tokio::test]
    async fn what_is_not_done_in_time_comes_again() {
        let records = [
            record("1", "a", &wakes("slow")),
            record("2", "a", &wakes("one")),
            record("3", "b", &wakes("two")),
        ];
        assert_eq!(handled(batch(&records)).await.0, ["1", "2"]);
    }

    #[tokio::test]
    async fn a_call_without_messages_is_answered() {
        let empty: Batch = serde_json::from_value(json!({})).unwrap();
        let answer = handle_all(empty, Instant::now(), 1, |_| async { Ok(()) }).await;
        assert_eq!(serde_json::to_value(answer).unwrap(), json!({ "batchItemFailures": [] }));
    }

    #[test]
    fn a_message_goes_on_in_its_trace() {
        let batch = batch(&[record("1", "a", &wakes("one"))]);
        let trace = batch.records[0].trace();
        assert_eq!(trace.id(), TraceContext::parse(TRACE).unwrap().id());
        assert_eq!(batch.records[0].sent(), Some(1_767_225_600_000));
    }
}
