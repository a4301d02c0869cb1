//! `Publisher` on SNS: each event as a CloudEvent, with attributes for filter policies; as a record in the store, where events
//! are listed; and by a message to the notifier, which reads the record.

use std::sync::Arc;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_sdk_sns::Client;
use aws_sdk_sns::types::MessageAttributeValue;
use serde_json::{Value, json};
use yuba_core::cloud_event::CloudEvent;
use yuba_core::event::Event;
use yuba_core::id::InstallationId;
use yuba_core::message::{Cause, Message, Wake};
use yuba_ports::records::put_any;
use yuba_ports::{PortError, Publisher, Queue, Store};

use crate::error::port_error;
use crate::settings::{Variables, is_fifo, topic_arn};

/// Where events go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublisherSettings {
    /// The ARN of the topic; a FIFO topic keeps the order of a stack's events.
    pub topic: String,
}

impl PublisherSettings {
    /// Reads `YUBA_TOPIC_ARN`.
    pub fn read(variables: &mut Variables) -> Option<Self> {
        let topic = variables.required("YUBA_TOPIC_ARN", "the ARN of the topic that events go to", topic_arn);
        Some(Self { topic: topic? })
    }
}

/// Events into the store, to the notifier, and into an SNS topic.
#[derive(Clone)]
pub struct SnsPublisher {
    client: Client,
    settings: PublisherSettings,
    installation: InstallationId,
    store: Arc<dyn Store>,
    queue: Arc<dyn Queue>,
}

impl SnsPublisher {
    /// An installation's events into a topic that exists. Nothing is asked of AWS yet.
    pub fn new(
        config: &SdkConfig,
        settings: PublisherSettings,
        installation: &InstallationId,
        (store, queue): (Arc<dyn Store>, Arc<dyn Queue>),
    ) -> Self {
        Self { client: Client::new(config), settings, installation: installation.clone(), store, queue }
    }
}

#[async_trait]
impl Publisher for SnsPublisher {
    async fn publish(&self, event: &Event) -> Result<(), PortError> {
        self.store.commit(vec![put_any(event)?]).await?;
        // Not by way of the topic: one that keeps no order cannot feed a FIFO queue.
        let cause = Cause::Event { stack: event.stack, number: event.number };
        self.queue.send(vec![Message::new(Wake::Events(event.stack), cause)]).await?;
        let mut request = self
            .client
            .publish()
            .topic_arn(&self.settings.topic)
            .message(cloud_event(&self.installation, event).to_string());
        for (name, value) in CloudEvent::attributes(&self.installation, event) {
            request = request.message_attributes(name, attribute(value)?);
        }
        if is_fifo(&self.settings.topic) {
            request = request.message_group_id(event.stack.to_string()).message_deduplication_id(event.id());
        }
        let sent = request.send().await;
        sent.map(drop).map_err(|error| port_error(format!("publishing event {}", event.id()), error))
    }
}

/// The event as CloudEvents 1.0 has it, in JSON. `sequence` orders the events of a `subject`'s `stack`.
fn cloud_event(installation: &InstallationId, event: &Event) -> Value {
    json!(CloudEvent::of(format!("/yuba/{installation}"), event))
}

fn attribute(value: String) -> Result<MessageAttributeValue, PortError> {
    MessageAttributeValue::builder()
        .data_type("String")
        .string_value(value)
        .build()
        .map_err(|error| PortError::permanent("an event's attribute could not be built").because(error))
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;
    use yuba_core::event::EventKind;
    use yuba_core::id::{RunId, StackId, StackName};
    use yuba_core::time::Timestamp;

    use super::*;

    #[test]
    fn an_event_is_a_cloud_event_with_its_number() {
        let event = Event {
            stack: StackId(Ulid::from_parts(1, 2)),
            name: StackName::new("prod", "network"),
            number: 7,
            kind: EventKind::DriftDetected,
            run: Some(RunId(Ulid::from_parts(3, 4))),
            revision: None,
            message: "2 resources changed outside".to_owned(),
            at: Timestamp(1_767_225_600_000),
        };
        let expected = json!({
            "specversion": "1.0",
            "id": "00000000010000000000000002-7",
            "source": "/yuba/prod",
            "type": "dev.yuba.drift.detected",
            "subject": "prod/network",
            "time": "2026-01-01T00:00:00Z",
            "sequence": "000000000007",
            "datacontenttype": "application/json",
            "data": {
                "stack": "00000000010000000000000002",
                "name": "prod/network",
                "number": 7,
                "severity": "error",
                "run": "00000000030000000000000004",
                "revision": null,
                "message": "2 resources changed outside",
            },
        });
        assert_eq!(cloud_event(&InstallationId("prod".to_owned()), &event), expected);
    }
}
