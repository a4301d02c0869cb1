//! A process that writes is killed with `kill -9`, again and again on one directory: what it was told is done is
//! there, and nothing is there by half.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a test's helper fails the test")]

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use serde_json::json;
use ulid::Ulid;
use yuba_core::id::StackId;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::{Index, IndexEntry, Key};
use yuba_core::time::{Span, Timestamp};
use yuba_local::{Database, LocalQueue, LocalStore, SystemClock};
use yuba_ports::{Committed, Expected, Order, Query, Queue, QueueName, Store, Write};

/// Set for the process that is to be killed: the directory, and which cycle this is.
const DIRECTORY: &str = "CRASH_TEST_DIRECTORY";
const CYCLE: &str = "CRASH_TEST_CYCLE";
/// How many writers write at once, so that they share transactions.
const WRITERS: u64 = 8;
const CYCLES: u64 = 10;

async fn open(directory: &Path) -> (LocalStore, LocalQueue) {
    let database = Database::open(&directory.join("yuba.db")).unwrap();
    (LocalStore::new(database.clone()), LocalQueue::open(database, Arc::new(SystemClock)).await.unwrap())
}

/// A record of one half; both halves are committed together.
fn half(name: &str, id: &str) -> Write {
    let indexes = vec![IndexEntry::new(Index::Due, id)];
    Write::Put {
        key: Key::new(name, id),
        expected: Expected::Absent,
        body: json!({"schema": 1, "text": "x".repeat(2000)}),
        indexes,
    }
}

fn message(group: u64, number: u64) -> Message {
    let slot = Timestamp(i64::try_from(number).unwrap());
    Message::new(Wake::Stack(StackId(Ulid::from_parts(1, group.into()))), Cause::Due { slot })
}

async fn write_forever(store: LocalStore, queue: LocalQueue, group: u64) {
    for number in 0.. {
        let id = format!("{group}.{number}");
        let committed = store.commit(vec![half("left", &id), half("right", &id)]).await.unwrap();
        assert_eq!(committed, Committed::Done);
        queue.send(vec![message(group, number)]).await.unwrap();
        println!("\ndone {id}");
    }
}

/// The process that is killed; in the ordinary run of the tests it does nothing.
#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::disallowed_methods, reason = "this is how the test below tells its child what to do")]
async fn write_until_killed() {
    let (Ok(directory), Ok(cycle)) = (std::env::var(DIRECTORY), std::env::var(CYCLE)) else { return };
    let (store, queue) = open(Path::new(&directory)).await;
    let first = cycle.parse::<u64>().unwrap() * WRITERS;
    let writers = (first..first + WRITERS)
        .map(|group| tokio::spawn(write_forever(store.clone(), queue.clone(), group)));
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
}

/// Lets a child write until it has said `count` times that something is done, kills it, and returns all it said.
#[expect(clippy::disallowed_methods, reason = "the child is killed in the next lines")]
fn done_until_killed(directory: &Path, cycle: u64, count: usize) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "write_until_killed", "--nocapture"])
        .env(DIRECTORY, directory)
        .env(CYCLE, cycle.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut done = lines.filter_map(|line| line.strip_prefix("done ").map(str::to_owned));
    let mut said: Vec<String> = done.by_ref().take(count).collect();
    child.kill().unwrap();
    said.extend(done);
    child.wait().unwrap();
    assert!(said.len() >= count, "the child wrote until it was killed");
    said
}

async fn ids(store: &LocalStore, partition: &str) -> BTreeSet<String> {
    let (partition, prefix, order) = (partition.to_owned(), String::new(), Order::Ascending);
    let query = Query::Partition { partition, prefix, order, after: None, limit: usize::MAX };
    store.query(query).await.unwrap().items.into_iter().map(|item| item.key.sort).collect()
}

async fn messages(queue: &LocalQueue) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    while let Some(received) = queue.receive(QueueName::Stacks, 1, Span::ZERO).await.unwrap().pop() {
        if let Message { wake: Wake::Stack(stack), cause: Cause::Due { slot }, .. } = &received.message {
            found.insert(format!("{}.{}", stack.0.random(), slot.0));
        }
        queue.ack(&received).await.unwrap();
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_done_survives_and_nothing_is_there_by_half() {
    let directory = tempfile::tempdir().unwrap();
    for cycle in 0..CYCLES {
        let count = usize::try_from(1 + cycle * 17).unwrap();
        let said = done_until_killed(directory.path(), cycle, count);
        let (store, queue) = open(directory.path()).await;
        let (left, right) = (ids(&store, "left").await, ids(&store, "right").await);
        assert_eq!(left, right, "both halves of a commit, or none");
        let index = Query::Index {
            index: Index::Due,
            prefix: String::new(),
            up_to: None,
            order: Order::Ascending,
            after: None,
            limit: usize::MAX,
        };
        assert_eq!(store.query(index).await.unwrap().items.len(), left.len() * 2, "an index entry for each");
        let sent = messages(&queue).await;
        for id in said {
            assert!(left.contains(&id) && sent.contains(&id), "cycle {cycle}: {id} was done, and is lost");
        }
    }
}
