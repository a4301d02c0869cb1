//! One suite for each port, the same that every other implementation is held to.

use yuba_aws::{
    AwsSecrets, BlobsSettings, DynamoStore, QueueSettings, QueueUrls, S3Blobs, SecretsSettings, SqsQueue,
};
use yuba_core::time::Span;
use yuba_ports::contract::{self, QueueFixture};

use crate::blobs::create_bucket;
use crate::emulator::{emulator, fresh_installation, fresh_name};
use crate::store::{create_table, fresh_settings};

#[tokio::test(flavor = "multi_thread")]
async fn the_store_keeps_its_contract() {
    let (config, table) = (emulator().config().await, fresh_name());
    create_table(&config, &table).await;
    contract::store(async || DynamoStore::new(&config, &fresh_settings(&table))).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_keeps_its_contract() {
    let config = emulator().config().await;
    contract::queue(async || {
        let client = aws_sdk_sqs::Client::new(&config);
        let make = async || {
            let fifo = aws_sdk_sqs::types::QueueAttributeName::FifoQueue;
            let queue = client.create_queue().queue_name(format!("{}.fifo", fresh_name()));
            queue.attributes(fifo, "true").send().await.unwrap().queue_url.unwrap()
        };
        let urls = async || QueueUrls { work: make().await, dead: make().await };
        let settings = QueueSettings { sources: urls().await, stacks: urls().await, notices: urls().await };
        let queue = SqsQueue::new(&config, settings);
        // What SQS takes where a queue says nothing else.
        QueueFixture {
            queue,
            advance: Box::new(|span| emulator().advance(span)),
            visibility: Span::seconds(30),
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_blobs_keep_their_contract() {
    let (config, bucket) = (emulator().config().await, fresh_name());
    create_bucket(&config, &bucket).await;
    let scratch = tempfile::tempdir().unwrap();
    let settings = BlobsSettings { bucket, key: None };
    contract::blobs(async || S3Blobs::new(&config, settings.clone(), &fresh_installation()), scratch.path())
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_secrets_keep_their_contract() {
    let config = emulator().config().await;
    contract::secrets(async || AwsSecrets::new(&config, secrets_settings())).await;
}

/// Prefixes that no other test uses.
pub(crate) fn secrets_settings() -> SecretsSettings {
    let installation = fresh_installation();
    SecretsSettings {
        secrets: format!("/yuba/{installation}/secrets"),
        config_maps: format!("/yuba/{installation}/config-maps"),
        key: None,
    }
}
