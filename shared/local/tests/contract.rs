//! The ports on one machine keep the ports' contracts.

#![expect(clippy::unwrap_used, reason = "a test's helper fails the test")]

use std::sync::Arc;

use secrecy::SecretString;
use tempfile::TempDir;
use yuba_core::id::SourceName;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::time::{Span, Timestamp};
use yuba_local::{Database, LocalBlobs, LocalQueue, LocalSecrets, LocalStore};
use yuba_ports::contract::{self, QueueFixture};
use yuba_ports::memory::MemoryClock;
use yuba_ports::{Queue, QueueName};

/// Directories that live as long as the test.
#[derive(Default)]
struct Directories(Vec<TempDir>);

impl Directories {
    fn fresh(&mut self) -> std::path::PathBuf {
        self.0.push(tempfile::tempdir().unwrap());
        self.0.last().unwrap().path().to_owned()
    }

    fn database(&mut self) -> Database {
        Database::open(&self.fresh().join("yuba.db")).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_store_keeps_its_contract() {
    let mut directories = Directories::default();
    contract::store(async || LocalStore::new(directories.database())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_keeps_its_contract() {
    let mut directories = Directories::default();
    contract::queue(async || {
        let clock = Arc::new(MemoryClock::default());
        let queue = LocalQueue::open(directories.database(), clock.clone()).await.unwrap();
        let advance = Box::new(move |span: Span| clock.advance(span));
        QueueFixture { queue, advance, visibility: LocalQueue::VISIBILITY }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_message_that_cannot_be_read_becomes_a_dead_letter() {
    let mut directories = Directories::default();
    let path = directories.fresh().join("yuba.db");
    let open = async || {
        let database = Database::open(&path).unwrap();
        LocalQueue::open(database, Arc::new(MemoryClock::default())).await.unwrap()
    };
    let queue = open().await;
    let wake = Wake::Source(SourceName::new("default", "live"));
    queue.send(vec![Message::new(wake, Cause::Due { slot: Timestamp(1) })]).await.unwrap();
    drop(queue);
    let insert = "INSERT INTO messages (queue, body) VALUES ('sources', '{\"wake\": \"the dead\"}')";
    rusqlite::Connection::open(&path).unwrap().execute(insert, []).unwrap();
    for _ in 0..2 {
        let queue = open().await;
        let dead = queue.dead_letters(QueueName::Sources, 10).await.unwrap();
        assert_eq!(dead.len(), 1);
        assert_eq!(dead[0].body, r#"{"wake": "the dead"}"#);
        assert!(dead[0].why.as_ref().unwrap().starts_with("it cannot be read: "));
        assert_eq!(queue.receive(QueueName::Sources, 10, Span::ZERO).await.unwrap().len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_again_comes_alone() {
    let mut directories = Directories::default();
    let queue = LocalQueue::open(directories.database(), Arc::new(MemoryClock::default())).await.unwrap();
    let source = Wake::Source(SourceName::new("default", "live"));
    let message = |slot| Message::new(source.clone(), Cause::Due { slot: Timestamp(slot) });
    queue.send((1..=3).map(message).collect()).await.unwrap();
    let receive = async || queue.receive(QueueName::Sources, 2, Span::ZERO).await.unwrap();
    for received in receive().await {
        queue.release(&received, Span::ZERO).await.unwrap();
    }
    for (slot, receives) in [(1, 2), (2, 2), (3, 1)] {
        let received = receive().await;
        let again: Vec<_> = received.iter().map(|it| (it.message.clone(), it.receives)).collect();
        assert_eq!(again, [(message(slot), receives)]);
        queue.ack(&received[0]).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_blobs_keep_their_contract() {
    let mut directories = Directories::default();
    let scratch = tempfile::tempdir().unwrap();
    contract::blobs(async || LocalBlobs::new(directories.fresh()), scratch.path()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_secrets_keep_their_contract() {
    let mut directories = Directories::default();
    let key = || SecretString::from("key");
    contract::secrets(async || LocalSecrets::new(directories.fresh(), key())).await;
}
