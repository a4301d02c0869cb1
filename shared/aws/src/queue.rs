//! `Queue` on SQS FIFO queues: one for sources, one for stacks, one for notices.

use std::collections::HashMap;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::operation::send_message_batch::SendMessageBatchOutput;
use aws_sdk_sqs::types::{
    Message as SqsMessage, MessageAttributeValue, MessageSystemAttributeName, SendMessageBatchRequestEntry,
};
use sha2::{Digest, Sha256};
use yuba_core::message::Message;
use yuba_core::time::Span;
use yuba_ports::{DeadLetter, PortError, Queue, QueueName, Received};

use crate::connect::OPERATION;
use crate::dead_letters::{DeadLetters, text};
use crate::error::port_error;
use crate::settings::{Variables, fifo_queue_url};
use crate::trace::{TRACEPARENT, TraceContext};

/// How many messages one request may carry.
pub(crate) const MOST_ENTRIES: usize = 10;
/// The longest group or deduplication id.
const LONGEST_ID: usize = 128;
/// The longest that a receive may wait, and the longest that a message may be hidden.
const LONGEST_WAIT: Span = Span::seconds(20);
const LONGEST_HIDDEN: Span = Span::hours(12);
/// How long a message is hidden while it is set aside.
const TO_SET_ASIDE: Span = Span::minutes(1);
const UNWRITTEN: &str = "a message could not be written";

/// Where the queues are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueSettings {
    /// The queue that wakes sources.
    pub sources: QueueUrls,
    /// The queue that wakes stacks.
    pub stacks: QueueUrls,
    /// The queue that tells of events, and wakes providers of notifications.
    pub notices: QueueUrls,
}

/// Where a queue is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueUrls {
    /// The URL of the FIFO queue.
    pub work: String,
    /// The URL of the FIFO queue of its dead letters.
    pub dead: String,
}

impl QueueSettings {
    /// Reads `YUBA_SOURCES_QUEUE_URL`, `YUBA_STACKS_QUEUE_URL` and `YUBA_NOTICES_QUEUE_URL`, and the same with
    /// `DEAD_QUEUE`.
    pub fn read(variables: &mut Variables) -> Option<Self> {
        let mut urls = |queue: QueueName, (work, dead)| {
            let what = format!("the URL of the FIFO queue of {}", queue.as_str());
            let work = variables.required(work, &what, fifo_queue_url);
            let what = format!("the URL of the FIFO queue of dead letters of {}", queue.as_str());
            let dead = variables.required(dead, &what, fifo_queue_url);
            Some(QueueUrls { work: work?, dead: dead? })
        };
        let sources = urls(QueueName::Sources, ("YUBA_SOURCES_QUEUE_URL", "YUBA_SOURCES_DEAD_QUEUE_URL"));
        let stacks = urls(QueueName::Stacks, ("YUBA_STACKS_QUEUE_URL", "YUBA_STACKS_DEAD_QUEUE_URL"));
        let notices = urls(QueueName::Notices, ("YUBA_NOTICES_QUEUE_URL", "YUBA_NOTICES_DEAD_QUEUE_URL"));
        Some(Self { sources: sources?, stacks: stacks?, notices: notices? })
    }

    fn of(&self, queue: QueueName) -> &QueueUrls {
        match queue {
            QueueName::Sources => &self.sources,
            QueueName::Stacks => &self.stacks,
            QueueName::Notices => &self.notices,
        }
    }
}

/// Messages in SQS FIFO queues. How long a received message is hidden is the queue's own setting.
#[derive(Debug, Clone)]
pub struct SqsQueue {
    client: Client,
    settings: QueueSettings,
}

impl SqsQueue {
    /// Messages in queues that exist. Nothing is asked of AWS yet.
    pub fn new(config: &SdkConfig, settings: QueueSettings) -> Self {
        Self { client: Client::new(config), settings }
    }

    fn dead(&self, queue: QueueName) -> DeadLetters<'_> {
        let QueueUrls { work, dead } = self.settings.of(queue);
        DeadLetters { client: &self.client, dead, work }
    }

    /// Hides a message for so long; whether the receipt is still the message's.
    pub(crate) async fn hide(&self, queue: QueueName, receipt: &str, span: Span) -> Result<bool, PortError> {
        let hidden = span.min(LONGEST_HIDDEN).0.max(0).unsigned_abs().div_ceil(1000);
        let request = self
            .client
            .change_message_visibility()
            .queue_url(&self.settings.of(queue).work)
            .receipt_handle(receipt)
            .visibility_timeout(i32::try_from(hidden).unwrap_or(i32::MAX));
        current(request.send().await, "releasing a message")
    }

    /// Deletes a message; a receipt that is no longer the message's does nothing.
    pub(crate) async fn delete(&self, queue: QueueName, receipt: &str) -> Result<(), PortError> {
        let request = self.client.delete_message().queue_url(&self.settings.of(queue).work);
        let request = request.receipt_handle(receipt);
        current(request.send().await, "acknowledging a message").map(drop)
    }

    /// Makes a message a dead letter, whether or not this version can read its body.
    pub(crate) async fn bury(
        &self,
        queue: QueueName,
        (body, group, receipt): (String, &str, &str),
        why: &str,
    ) -> Result<(), PortError> {
        if !self.hide(queue, receipt, TO_SET_ASIDE).await? {
            return Ok(());
        }
        self.dead(queue).add((body, group, receipt), why).await?;
        self.delete(queue, receipt).await
    }

    async fn send_batch(&self, queue: QueueName, messages: &[Message]) -> Result<(), PortError> {
        let entries = messages.iter().enumerate().map(|(at, message)| entry(at, message));
        let request = self
            .client
            .send_message_batch()
            .queue_url(&self.settings.of(queue).work)
            .set_entries(Some(entries.collect::<Result<_, _>>()?));
        let what = || format!("sending {} messages to the queue of {}", messages.len(), queue.as_str());
        let answer = request.send().await.map_err(|error| port_error(what(), error))?;
        all_sent(&answer, &what())
    }

    /// Messages of groups of which none is hidden, each group in order; SQS favours one, and may add others.
    async fn receive_some(
        &self,
        queue: QueueName,
        most: usize,
        wait: Span,
    ) -> Result<Vec<Received>, PortError> {
        let what = || format!("receiving from the queue of {}", queue.as_str());
        let seconds = wait.min(LONGEST_WAIT).0.max(0) / 1000;
        let patient = TimeoutConfig::builder()
            .read_timeout(LONGEST_WAIT.to_std() + OPERATION)
            .operation_timeout(LONGEST_WAIT.to_std() + OPERATION)
            .build();
        let answer = self
            .client
            .receive_message()
            .queue_url(&self.settings.of(queue).work)
            .max_number_of_messages(i32::try_from(most.clamp(1, MOST_ENTRIES)).unwrap_or(1))
            .wait_time_seconds(i32::try_from(seconds).unwrap_or(0))
            .message_system_attribute_names(MessageSystemAttributeName::ApproximateReceiveCount)
            .customize()
            .config_override(aws_sdk_sqs::config::Builder::new().timeout_config(patient))
            .send()
            .await
            .map_err(|error| port_error(what(), error))?;
        answer.messages.unwrap_or_default().into_iter().map(received).collect()
    }
}

#[async_trait]
impl Queue for SqsQueue {
    async fn send(&self, messages: Vec<Message>) -> Result<(), PortError> {
        for queue in QueueName::ALL {
            let own: Vec<Message> =
                messages.iter().filter(|message| QueueName::of(message) == queue).cloned().collect();
            for batch in own.chunks(MOST_ENTRIES) {
                self.send_batch(queue, batch).await?;
            }
        }
        Ok(())
    }

    async fn receive(&self, queue: QueueName, most: usize, wait: Span) -> Result<Vec<Received>, PortError> {
        let received = self.receive_some(queue, most, wait).await?;
        let Some(group) = received.first().map(|first| first.message.group()) else { return Ok(received) };
        let (its, others): (Vec<_>, Vec<_>) =
            received.into_iter().partition(|received| received.message.group() == group);
        for other in &others {
            self.release(other, Span::ZERO).await?;
        }
        Ok(its)
    }

    async fn ack(&self, received: &Received) -> Result<(), PortError> {
        self.delete(QueueName::of(&received.message), &received.receipt).await
    }

    async fn release(&self, received: &Received, after: Span) -> Result<(), PortError> {
        self.hide(QueueName::of(&received.message), &received.receipt, after).await.map(drop)
    }

    async fn set_aside(&self, received: &Received, why: &str) -> Result<(), PortError> {
        let (queue, group) = (QueueName::of(&received.message), received.message.group());
        self.bury(queue, (body(&received.message)?, &group, &received.receipt), why).await
    }

    async fn dead_letters(&self, queue: QueueName, most: usize) -> Result<Vec<DeadLetter>, PortError> {
        self.dead(queue).list(most).await
    }

    async fn redrive(&self, queue: QueueName, most: usize) -> Result<usize, PortError> {
        self.dead(queue).redrive(most).await
    }
}

fn entry(at: usize, message: &Message) -> Result<SendMessageBatchRequestEntry, PortError> {
    SendMessageBatchRequestEntry::builder()
        .set_message_attributes(attributes()?)
        .id(at.to_string())
        .message_body(body(message)?)
        .message_group_id(fitting(&message.group()))
        .message_deduplication_id(fitting(&message.deduplication_id()))
        .build()
        .map_err(|error| PortError::permanent(UNWRITTEN).because(error))
}

fn body(message: &Message) -> Result<String, PortError> {
    serde_json::to_string(message).map_err(|error| PortError::permanent(UNWRITTEN).because(error))
}

/// The trace that the sender's work belongs to, so that the receiver's goes on in it.
fn attributes() -> Result<Option<HashMap<String, MessageAttributeValue>>, PortError> {
    let Some(current) = TraceContext::current() else { return Ok(None) };
    Ok(Some(HashMap::from([(TRACEPARENT.to_owned(), text(&current.to_string())?)])))
}

/// An id as SQS takes it: at most 128 printable characters of ASCII without spaces. Another one keeps its beginning, and
/// ends with its digest.
pub(crate) fn fitting(id: &str) -> String {
    let fits = |letter: char| letter.is_ascii_graphic();
    if id.len() <= LONGEST_ID && id.chars().all(fits) {
        return id.to_owned();
    }
    let digest = hex::encode(Sha256::digest(id));
    let start: String =
        id.chars().filter(|letter| fits(*letter)).take(LONGEST_ID - digest.len() - 1).collect();
    format!("{start}#{digest}")
}

/// Of a batch some messages may have been refused. All are then sent again: which of them went out, deduplication tells.
pub(crate) fn all_sent(answer: &SendMessageBatchOutput, what: &str) -> Result<(), PortError> {
    let Some(failed) = answer.failed().first() else { return Ok(()) };
    let why = failed.message().unwrap_or("no reason was given");
    let what = format!("{what}: {}: {why}", failed.code());
    Err(if failed.sender_fault() { PortError::permanent(what) } else { PortError::transient(what) })
}

fn received(message: SqsMessage) -> Result<Received, PortError> {
    let count = message
        .attributes()
        .and_then(|attributes| attributes.get(&MessageSystemAttributeName::ApproximateReceiveCount))
        .and_then(|count| count.parse().ok());
    let id = message.message_id.unwrap_or_default();
    let body = message.body.unwrap_or_default();
    let message_of = serde_json::from_str(&body)
        .map_err(|error| PortError::permanent(format!("message {id} cannot be read")).because(error))?;
    Ok(Received {
        message: message_of,
        receipt: message.receipt_handle.unwrap_or_default(),
        receives: count.unwrap_or(1),
    })
}

/// A receipt that is no longer the message's does nothing; whether it still was.
fn current<T, E>(answer: Result<T, SdkError<E>>, what: &str) -> Result<bool, PortError>
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
{
    match answer {
        Ok(_) => Ok(true),
        Err(error) if is_stale(error.code(), error.message()) => Ok(false),
        Err(error) => Err(port_error(what, error)),
    }
}

/// How SQS says that a receipt is stale; for one that has expired it has no code of its own.
fn is_stale(code: Option<&str>, message: Option<&str>) -> bool {
    match code {
        Some("ReceiptHandleIsInvalid" | "MessageNotInflight") => true,
        Some("InvalidParameterValue") => message.is_some_and(|message| message.contains("expired")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_made_to_fit_and_stays_apart_from_others() {
        assert_eq!(fitting("stack#01ABC#due#7"), "stack#01ABC#due#7");
        let long = |end: &str| format!("source#{}/{end}", "n".repeat(200));
        for id in [long("a"), "manifests#a path".to_owned(), "manifests#grüße".to_owned()] {
            let fitted = fitting(&id);
            assert!(fitted.len() <= LONGEST_ID && fitted.chars().all(|letter| letter.is_ascii_graphic()));
        }
        assert_ne!(fitting(&long("a")), fitting(&long("b")));
        assert_ne!(fitting("a b"), fitting("ab"));
    }

    #[test]
    fn a_stale_receipt_is_told_from_other_mistakes() {
        let expired =
            "Value AQEB for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.";
        for (code, message, expected) in [
            ("ReceiptHandleIsInvalid", "", true),
            ("MessageNotInflight", "", true),
            ("InvalidParameterValue", expired, true),
            ("InvalidParameterValue", "VisibilityTimeout is invalid", false),
            ("AccessDenied", "", false),
        ] {
            assert_eq!(is_stale(Some(code), Some(message)), expected, "{code} {message}");
        }
    }
}
