//! Dead letters of SQS FIFO queues: read and sent again by hand, so that each keeps its group and its order, and that
//! another deduplication id makes sure that it is no repetition of what it was.

use std::collections::HashMap;

use aws_sdk_sqs::Client;
use aws_sdk_sqs::types::{
    Message as SqsMessage, MessageAttributeValue, MessageSystemAttributeName, SendMessageBatchRequestEntry,
};
use yuba_core::time::Timestamp;
use yuba_ports::{DeadLetter, PortError};

use crate::error::port_error;
use crate::queue::{MOST_ENTRIES, all_sent, fitting};

/// The attribute that says why a message is a dead letter, where Yuba set it aside.
pub(crate) const WHY: &str = "why";
/// For how many seconds dead letters are hidden from others that look at them.
const HIDDEN_SECONDS: i32 = 60;
/// How much of a reason is kept, in bytes: a message has an end.
const LONGEST_WHY: usize = 4_000;

/// A queue of dead letters, and the one that they came from.
pub(crate) struct DeadLetters<'a> {
    pub(crate) client: &'a Client,
    /// The URL of the queue of dead letters.
    pub(crate) dead: &'a str,
    /// The URL of the queue that they came from.
    pub(crate) work: &'a str,
}

impl DeadLetters<'_> {
    /// What lies there: of a group at most as many as SQS hands out at once, ten.
    pub(crate) async fn list(&self, most: usize) -> Result<Vec<DeadLetter>, PortError> {
        let mut found = Vec::new();
        let received = loop {
            match self.receive(most - found.len()).await {
                Ok(messages) if messages.is_empty() => break Ok(()),
                Ok(messages) => found.extend(messages),
                Err(error) => break Err(error),
            }
        };
        for message in &found {
            self.show_again(message).await?;
        }
        received?;
        let mut letters: Vec<DeadLetter> = found.into_iter().map(letter).collect();
        letters.sort_by_key(|letter| letter.since);
        Ok(letters)
    }

    /// Sends dead letters again, and then deletes them: one that is found again after it was sent is a repetition.
    pub(crate) async fn redrive(&self, most: usize) -> Result<usize, PortError> {
        let mut count = 0;
        loop {
            let messages = self.receive(most - count).await?;
            if messages.is_empty() {
                return Ok(count);
            }
            self.send_again(&messages).await?;
            for message in &messages {
                let receipt = message.receipt_handle.clone().unwrap_or_default();
                let deleted =
                    self.client.delete_message().queue_url(self.dead).receipt_handle(receipt).send();
                deleted
                    .await
                    .map_err(|error| port_error("deleting a dead letter that was sent again", error))?;
            }
            count += messages.len();
        }
    }

    /// Adds a message that was set aside; `receipt` names the receipt of it that this is done for.
    pub(crate) async fn add(
        &self,
        (body, group, receipt): (String, &str, &str),
        why: &str,
    ) -> Result<(), PortError> {
        let why = text(why.get(..why.floor_char_boundary(LONGEST_WHY)).unwrap_or(why))?;
        let request = self.client.send_message().queue_url(self.dead).message_body(body);
        let request = request.message_group_id(fitting(group)).message_deduplication_id(fitting(receipt));
        let sent = request.message_attributes(WHY, why).send().await;
        sent.map(drop).map_err(|error| port_error("setting a message aside", error))
    }

    /// Waits as long as the queue itself says.
    async fn receive(&self, most: usize) -> Result<Vec<SqsMessage>, PortError> {
        if most == 0 {
            return Ok(Vec::new());
        }
        let answer = self
            .client
            .receive_message()
            .queue_url(self.dead)
            .max_number_of_messages(i32::try_from(most.min(MOST_ENTRIES)).unwrap_or(1))
            .visibility_timeout(HIDDEN_SECONDS)
            .message_system_attribute_names(MessageSystemAttributeName::MessageGroupId)
            .message_system_attribute_names(MessageSystemAttributeName::SentTimestamp)
            .message_attribute_names("All")
            .send()
            .await;
        let answer = answer.map_err(|error| port_error("receiving dead letters", error))?;
        Ok(answer.messages.unwrap_or_default())
    }

    async fn show_again(&self, message: &SqsMessage) -> Result<(), PortError> {
        let request = self.client.change_message_visibility().queue_url(self.dead).visibility_timeout(0);
        let shown = request.receipt_handle(message.receipt_handle.clone().unwrap_or_default()).send().await;
        shown.map(drop).map_err(|error| port_error("giving a dead letter back", error))
    }

    async fn send_again(&self, messages: &[SqsMessage]) -> Result<(), PortError> {
        let entries = messages.iter().enumerate().map(|(at, message)| again(at, message));
        let request = self.client.send_message_batch().queue_url(self.work);
        let request = request.set_entries(Some(entries.collect::<Result<_, _>>()?));
        let what = "sending dead letters again";
        let answer = request.send().await.map_err(|error| port_error(what, error))?;
        all_sent(&answer, what)
    }
}

/// A dead letter as it is sent again: in its group, under an id of its own.
fn again(at: usize, message: &SqsMessage) -> Result<SendMessageBatchRequestEntry, PortError> {
    let mut attributes: HashMap<_, _> = message.message_attributes.clone().unwrap_or_default();
    attributes.remove(WHY);
    let id = message.message_id().unwrap_or_default();
    SendMessageBatchRequestEntry::builder()
        .id(at.to_string())
        .message_body(message.body().unwrap_or_default())
        .message_group_id(system(message, &MessageSystemAttributeName::MessageGroupId))
        .message_deduplication_id(fitting(&format!("dead-letter#{id}")))
        .set_message_attributes((!attributes.is_empty()).then_some(attributes))
        .build()
        .map_err(|error| PortError::permanent("a dead letter could not be written").because(error))
}

fn letter(message: SqsMessage) -> DeadLetter {
    let group = system(&message, &MessageSystemAttributeName::MessageGroupId).to_owned();
    let since = system(&message, &MessageSystemAttributeName::SentTimestamp).parse().unwrap_or_default();
    let why = message.message_attributes().and_then(|attributes| attributes.get(WHY));
    let why = why.and_then(|why| why.string_value.clone());
    let (id, body) = (message.message_id.unwrap_or_default(), message.body.unwrap_or_default());
    DeadLetter { id, group, body, since: Timestamp(since), why }
}

fn system<'a>(message: &'a SqsMessage, name: &MessageSystemAttributeName) -> &'a str {
    message.attributes().and_then(|attributes| attributes.get(name)).map_or("", String::as_str)
}

/// A text as a message's attribute.
pub(crate) fn text(value: &str) -> Result<MessageAttributeValue, PortError> {
    let value = MessageAttributeValue::builder().data_type("String").string_value(value).build();
    value.map_err(|error| PortError::permanent("a message could not be written").because(error))
}
