//! Batches of messages as Lambda hands them over, and the answer that says which of them come again.
//!
//! Messages of one group are handled in their order, as many together as the function takes, groups beside one another. What
//! is done of one of several groups is deleted at once: until then the group would wait for the slowest of the batch.
//! Messages that fail are given back with the rest of their group, which comes again after them; other groups go on. One
//! that comes again is handled alone, so that it fails with others once at most. What trying again cannot mend, or what
//! cannot be read, becomes a dead letter with its reason after as many tries as on one machine, and the rest of its group
//! goes on: each receipt counts for all that came together, so a queue's own limit would take the neighbours too.
//!
//! A handler that ends the process ends it for the whole batch, and nobody is left to say whose fault it was. So a batch
//! with a message that came often before is handled group by group, the freshest first, and what is done does not come
//! again whatever becomes of the rest. What ends the process is moved to the dead letters by the queue.
//!
//! Nothing is ever dropped here.

use std::collections::HashMap;

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use yuba_core::message::Message;
use yuba_ports::PortError;

use super::group::Line;
use super::work::Settle;
use crate::trace::{TRACEPARENT, TraceContext};

/// After how many receipts a message may be one that ends the process.
const SUSPECT: u32 = 4;

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
    pub(super) message_id: String,
    pub(super) receipt_handle: String,
    pub(super) body: String,
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

impl Failure {
    fn of(record: &Record) -> Self {
        Self { item_identifier: record.message_id.clone() }
    }
}

impl Record {
    /// When it was sent, in milliseconds since 1970.
    pub(super) fn sent(&self) -> Option<i64> {
        self.attributes.sent_timestamp.parse().ok()
    }

    /// The group that it belongs to.
    pub(super) fn group(&self) -> &str {
        &self.attributes.message_group_id
    }

    /// How often it came, this time included.
    pub(super) fn receives(&self) -> u32 {
        self.attributes.approximate_receive_count.parse().unwrap_or(1)
    }

    /// The trace that it goes on in, or a new one.
    pub(super) fn trace(&self) -> TraceContext {
        let sent = self.message_attributes.get(TRACEPARENT).and_then(|it| it.string_value.as_deref());
        sent.and_then(TraceContext::parse).map_or_else(TraceContext::begin, TraceContext::next)
    }
}

/// Handles a batch until a moment, at most `most` messages of a group together: what is under way then, or has not begun,
/// comes again.
pub(super) async fn handle_all<F>(
    batch: Batch,
    until: Instant,
    (most, settle): (usize, &impl Settle),
    handle: impl Fn(Vec<Message>) -> F + Copy,
) -> Answer
where
    F: Future<Output = Result<(), PortError>>,
{
    let groups = groups(batch.records);
    let times = groups.iter().flatten().map(Record::receives).max().unwrap_or(0);
    let line = Line { until, most, settle };
    let failures = if times >= SUSPECT {
        let mut failures = Vec::new();
        for group in one_by_one(&groups, times) {
            failures.push(line.handle_and_settle(group, handle).await);
        }
        failures
    } else if let [group] = &groups[..] {
        vec![line.handle(group, handle).await]
    } else {
        // What is done of one group does not wait for another.
        join_all(groups.iter().map(|group| line.handle_and_settle(group, handle))).await
    };
    Answer { batch_item_failures: failures.into_iter().flatten().map(Failure::of).collect() }
}

/// The order of groups that are handled one by one: those that came least often first, and of equals another first each
/// time.
fn one_by_one(groups: &[Vec<Record>], times: u32) -> Vec<&[Record]> {
    let mut order: Vec<&[Record]> = groups.iter().map(Vec::as_slice).collect();
    let first = usize::try_from(times).unwrap_or(0) % order.len().max(1);
    order.rotate_left(first);
    order.sort_by_key(|group| group.first().map(Record::receives));
    order
}

/// The messages of each group, in their order.
fn groups(records: Vec<Record>) -> Vec<Vec<Record>> {
    let mut groups: Vec<Vec<Record>> = Vec::new();
    for record in records {
        let is_its =
            |group: &&mut Vec<Record>| group.first().is_some_and(|first| first.group() == record.group());
        match groups.iter_mut().find(is_its) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use serde_json::{Value, json};
    use yuba_core::time::Span;

    use super::*;

    /// What was done with messages: `back ID SECONDS`, `aside ID WHY`, `done ID`.
    #[derive(Default)]
    struct Settled(Mutex<Vec<String>>);

    #[async_trait::async_trait]
    impl Settle for Settled {
        async fn give_back(&self, record: &Record, after: Span) -> Result<(), PortError> {
            self.0.lock().unwrap().push(format!("back {} {}", record.message_id, after.0 / 1000));
            Ok(())
        }
        async fn set_aside(&self, record: &Record, why: &str) -> Result<(), PortError> {
            self.0.lock().unwrap().push(format!("aside {} {why}", record.message_id));
            Ok(())
        }
        async fn done(&self, record: &Record) -> Result<(), PortError> {
            self.0.lock().unwrap().push(format!("done {}", record.message_id));
            Ok(())
        }
    }

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

    /// Which messages come again, and whom were woken, where those for `failing` fail, those for `never` for good, and those
    /// for `slow` never end.
    async fn handled(batch: Batch) -> (Vec<String>, Vec<String>) {
        let (again, woken, _) = handled_together(batch, 1).await;
        (again, woken)
    }

    /// The same, as many together as that; whoever was woken together stands in one text. And what was done beside the
    /// answer.
    async fn handled_together(batch: Batch, most: usize) -> (Vec<String>, Vec<String>, Vec<String>) {
        let (woken, settled) = (Mutex::new(Vec::new()), Settled::default());
        let until = Instant::now() + Duration::from_millis(50);
        let answer = handle_all(batch, until, (most, &settled), |messages| {
            let sources = messages.into_iter().map(|message| match message.wake {
                yuba_core::message::Wake::Source(source) => source.to_string(),
                other => panic!("{other:?}"),
            });
            let sources = sources.collect::<Vec<_>>().join(" ");
            woken.lock().unwrap().push(sources.clone());
            async move {
                match sources {
                    some if some.contains("failing") => Err(PortError::transient("no")),
                    some if some.contains("never") => Err(PortError::permanent("never")),
                    some if some.contains("slow") => std::future::pending().await,
                    _ => Ok(()),
                }
            }
        });
        let again = answer.await.batch_item_failures.into_iter().map(|failure| failure.item_identifier);
        (again.collect(), woken.into_inner().unwrap(), settled.0.into_inner().unwrap())
    }

    /// A message that came so often.
    fn came(times: u32, mut record: Value) -> Value {
        record["attributes"]["ApproximateReceiveCount"] = json!(times.to_string());
        record
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
        let again = |id: &str, source: &str| came(2, record(id, "a", &wakes(source)));
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
        let (comes_again, mut woken, _) = handled_together(batch(&records), 3).await;
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
    async fn what_fails_is_given_back_with_the_rest_of_its_group_for_a_while() {
        let records = [
            came(3, record("1", "a", &wakes("failing"))),
            came(3, record("2", "a", &wakes("one"))),
            record("3", "b", "{}"),
            record("4", "c", &wakes("two")),
        ];
        let (again, _, settled) = handled_together(batch(&records), 1).await;
        assert_eq!(again, ["1", "2", "3"]);
        assert_eq!(settled, ["back 1 4", "back 2 4", "back 3 1", "done 4"]);
    }

    #[tokio::test]
    async fn poison_is_set_aside_with_its_reason_and_its_neighbours_go_on() {
        let often = |id, group, body: &str| came(8, record(id, group, body));
        let records = [
            often("1", "a", "{}"),
            often("2", "a", &wakes("one")),
            often("3", "b", &wakes("never")),
            often("4", "b", &wakes("failing")),
            record("5", "c", &wakes("two")),
        ];
        let (again, woken, settled) = handled_together(batch(&records), 10).await;
        assert_eq!(again, ["4"], "what may be mended is never set aside");
        assert_eq!(woken, ["default/two", "default/one", "default/never", "default/failing"]);
        let aside = |start: &str| settled.iter().filter(|line| line.starts_with(start)).count();
        assert_eq!(aside("aside 1 it cannot be read: missing field"), 1, "{settled:?}");
        assert_eq!(aside("aside 3 it could not be handled: never"), 1, "{settled:?}");
        assert_eq!(aside("back 4 60"), 1, "{settled:?}");
    }

    #[tokio::test]
    async fn what_may_end_the_process_comes_last_and_what_is_done_before_stays_done() {
        let suspect = |times, id, group, source: &str| came(times, record(id, group, &wakes(source)));
        let order = async |times| {
            let records = [
                suspect(times, "1", "a", "one"),
                suspect(times, "2", "b", "slow"),
                suspect(times, "3", "c", "three"),
                record("4", "d", &wakes("fresh")),
            ];
            handled_together(batch(&records), 1).await
        };
        let (again, woken, settled) = order(4).await;
        assert_eq!(woken, ["default/fresh", "default/one", "default/slow"], "nobody else is begun meanwhile");
        assert_eq!(again, ["2", "3"]);
        assert_eq!(settled, ["done 4", "done 1", "back 2 8", "back 3 8"]);
        let (again, woken, _) = order(6).await;
        assert_eq!(woken, ["default/fresh", "default/three", "default/one", "default/slow"]);
        assert_eq!(again, ["2"]);
    }

    #[tokio::test]
    async fn what_is_not_done_in_time_comes_again_and_nobody_else_waits_for_it() {
        let records = [
            record("1", "a", &wakes("slow")),
            record("2", "a", &wakes("one")),
            record("3", "b", &wakes("two")),
        ];
        let (again, _, settled) = handled_together(batch(&records), 1).await;
        assert_eq!(again, ["1", "2"]);
        assert_eq!(settled, ["done 3", "back 1 1", "back 2 1"]);
    }

    #[tokio::test]
    async fn a_call_without_messages_is_answered() {
        let empty: Batch = serde_json::from_value(json!({})).unwrap();
        let answer = handle_all(empty, Instant::now(), (1, &Settled::default()), |_| async { Ok(()) }).await;
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
