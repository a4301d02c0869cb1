//! Events in SNS: as a queue that subscribes to the topic receives them.

use std::sync::Arc;
use std::time::Duration;

use aws_config::SdkConfig;
use aws_sdk_sqs::types::QueueAttributeName;
use serde_json::Value;
use ulid::Ulid;
use yuba_aws::{DynamoStore, PublisherSettings, SnsPublisher};
use yuba_core::event::{Event, EventKind};
use yuba_core::id::{StackId, StackName};
use yuba_core::message::Cause;
use yuba_core::record::Key;
use yuba_core::time::{Span, Timestamp};
use yuba_ports::memory::MemoryWorld;
use yuba_ports::{Publisher, Queue, QueueName, Store};

use crate::emulator::{emulator, fresh_name};
use crate::store::{create_table, fresh_settings};

fn event(number: u64, kind: EventKind) -> Event {
    let (stack, name) = (StackId(Ulid::from_parts(1, 1)), StackName::new("prod", "network"));
    let (message, at) = ("a fact".to_owned(), Timestamp(1_767_225_600_000));
    Event { stack, name, number, kind, run: None, revision: None, message, at }
}

/// A FIFO topic and the URL of a queue that gets its errors.
async fn topic(config: &SdkConfig) -> (String, String) {
    let (sns, sqs) = (aws_sdk_sns::Client::new(config), aws_sdk_sqs::Client::new(config));
    let name = format!("{}.fifo", fresh_name());
    let topic = sns.create_topic().name(&name).attributes("FifoTopic", "true").send().await.unwrap();
    let topic = topic.topic_arn.unwrap();
    let queue = sqs.create_queue().queue_name(&name).attributes(QueueAttributeName::FifoQueue, "true");
    let url = queue.send().await.unwrap().queue_url.unwrap();
    let arn = sqs.get_queue_attributes().queue_url(&url).attribute_names(QueueAttributeName::QueueArn);
    let arn = arn.send().await.unwrap().attributes.unwrap()[&QueueAttributeName::QueueArn].clone();
    sns.subscribe()
        .topic_arn(&topic)
        .protocol("sqs")
        .endpoint(arn)
        .attributes("RawMessageDelivery", "true")
        .attributes("FilterPolicy", r#"{"severity": ["error"]}"#)
        .send()
        .await
        .unwrap();
    (topic, url)
}

/// What came, once so many have: the topic tells its queues a moment later.
async fn received(config: &SdkConfig, url: &str, count: usize) -> Vec<Value> {
    let sqs = aws_sdk_sqs::Client::new(config);
    let mut messages = Vec::new();
    for _ in 0..100 {
        let request = sqs.receive_message().queue_url(url).max_number_of_messages(10).visibility_timeout(0);
        messages = request.send().await.unwrap().messages.unwrap_or_default();
        if messages.len() >= count {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let bodies = messages.into_iter().map(|message| message.body.unwrap());
    bodies.map(|body| serde_json::from_str(&body).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_reaches_whom_its_attributes_concern_once_and_in_order() {
    let (config, settings) = (emulator().config().await, fresh_settings(fresh_name()));
    create_table(&config, &settings.table).await;
    let store: Arc<dyn Store> = Arc::new(DynamoStore::new(&config, &settings));
    let ((topic, url), installation) = (topic(&config).await, settings.installation);
    let world = MemoryWorld::new();
    let ports = (store.clone(), world.ports().queue);
    let publisher = SnsPublisher::new(&config, PublisherSettings { topic }, &installation, ports);
    for event in [
        event(1, EventKind::RunFailed),
        event(1, EventKind::RunFailed),
        event(2, EventKind::RunApplied),
        event(3, EventKind::RunFailed),
    ] {
        publisher.publish(&event).await.unwrap();
    }
    let events = received(&config, &url, 2).await;
    let numbers: Vec<_> = events.iter().map(|event| event["sequence"].as_str().unwrap()).collect();
    assert_eq!(numbers, ["000000000001", "000000000003"]);
    assert_eq!(events[0]["type"], "dev.yuba.run.failed");
    let stored = store.get(&Key::event(StackId(Ulid::from_parts(1, 1)), 2)).await.unwrap();
    assert_eq!(stored.unwrap().body["message"], "a fact");
    let told = world.queue.receive(QueueName::Notices, 10, Span::ZERO).await.unwrap();
    let told: Vec<Cause> = told.into_iter().map(|received| received.message.cause).collect();
    let stack = StackId(Ulid::from_parts(1, 1));
    assert_eq!(
        told,
        [1, 2, 3].map(|number| Cause::Event { stack, number }),
        "the notifier is woken for each"
    );
}
