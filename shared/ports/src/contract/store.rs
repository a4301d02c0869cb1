//! The contract of `Store`: single records and commits.

use std::sync::Arc;

use serde_json::{Value, json};
use yuba_core::record::{Index, IndexEntry, Key};

use super::store_lists;
use crate::{Committed, Expected, MOST_WRITES, Remedy, Store, Write};

/// Holds a store to its contract; `fresh` makes an empty one.
pub async fn store<S: Store + 'static>(mut fresh: impl AsyncFnMut() -> S) {
    versions_count_writes(&fresh().await).await;
    expectations_are_held(&fresh().await).await;
    a_conflict_writes_nothing(&fresh().await).await;
    a_check_demands_and_writes_nothing(&fresh().await).await;
    a_deleted_record_is_gone(&fresh().await).await;
    a_hundred_writes_are_one(&fresh().await).await;
    one_of_two_racing_writers_wins(Arc::new(fresh().await)).await;
    store_lists::lists(&mut fresh).await;
}

/// A write of `{"schema": 1, "n": …}`.
pub(super) fn put(key: &Key, expected: Expected, number: u64) -> Write {
    put_indexed(key, expected, number, Vec::new())
}

/// The same, found by index entries.
pub(super) fn put_indexed(key: &Key, expected: Expected, number: u64, indexes: Vec<IndexEntry>) -> Write {
    Write::Put { key: key.clone(), expected, body: body(number), indexes }
}

fn body(number: u64) -> Value {
    json!({"schema": 1, "n": number, "text": "grüße \u{1F980} \u{0}"})
}

async fn version(store: &impl Store, key: &Key) -> Option<u64> {
    store.get(key).await.unwrap().map(|item| item.version)
}

async fn versions_count_writes(store: &impl Store) {
    let key = Key::new("p", "s");
    assert_eq!(store.get(&key).await.unwrap(), None);
    for number in 1..=3 {
        assert_eq!(store.commit(vec![put(&key, Expected::Any, number)]).await.unwrap(), Committed::Done);
        let item = store.get(&key).await.unwrap().unwrap();
        assert_eq!((item.version, item.body, item.key), (number, body(number), key.clone()));
    }
}

async fn expectations_are_held(store: &impl Store) {
    let key = Key::new("p", "s");
    let lost = Committed::Conflict(key.clone());
    let commit = async |expected| store.commit(vec![put(&key, expected, 7)]).await.unwrap();
    assert_eq!(commit(Expected::Version(1)).await, lost, "a version of what is not there");
    assert_eq!(commit(Expected::Absent).await, Committed::Done);
    assert_eq!(commit(Expected::Absent).await, lost, "absent, and it is there");
    assert_eq!(commit(Expected::Version(2)).await, lost, "a version that is not reached");
    assert_eq!(commit(Expected::Version(1)).await, Committed::Done);
    assert_eq!(commit(Expected::Version(1)).await, lost, "a version that has passed");
}

async fn a_conflict_writes_nothing(store: &impl Store) {
    let (first, second) = (Key::new("p", "1"), Key::new("q", "2"));
    store.commit(vec![put(&second, Expected::Any, 1)]).await.unwrap();
    let indexed = vec![IndexEntry::new(Index::Stacks, "x")];
    let writes =
        vec![put_indexed(&first, Expected::Absent, 1, indexed), put(&second, Expected::Version(9), 2)];
    assert_eq!(store.commit(writes).await.unwrap(), Committed::Conflict(second.clone()));
    assert_eq!((version(store, &first).await, version(store, &second).await), (None, Some(1)));
}

async fn a_check_demands_and_writes_nothing(store: &impl Store) {
    let (checked, written) = (Key::new("p", "checked"), Key::new("p", "written"));
    store.commit(vec![put(&checked, Expected::Any, 1)]).await.unwrap();
    let commit = async |expected| {
        let check = Write::Check { key: checked.clone(), expected };
        store.commit(vec![check, put(&written, Expected::Any, 2)]).await.unwrap()
    };
    assert_eq!(commit(Expected::Version(2)).await, Committed::Conflict(checked.clone()));
    assert_eq!(commit(Expected::Absent).await, Committed::Conflict(checked.clone()));
    assert_eq!(version(store, &written).await, None);
    assert_eq!(commit(Expected::Version(1)).await, Committed::Done);
    assert_eq!((version(store, &checked).await, version(store, &written).await), (Some(1), Some(1)));
}

async fn a_deleted_record_is_gone(store: &impl Store) {
    let key = Key::new("p", "s");
    let delete = |expected| vec![Write::Delete { key: key.clone(), expected }];
    assert_eq!(store.commit(delete(Expected::Any)).await.unwrap(), Committed::Done, "nothing to delete");
    store.commit(vec![put(&key, Expected::Absent, 1)]).await.unwrap();
    assert_eq!(store.commit(delete(Expected::Version(5))).await.unwrap(), Committed::Conflict(key.clone()));
    assert_eq!(store.commit(delete(Expected::Version(1))).await.unwrap(), Committed::Done);
    assert_eq!(version(store, &key).await, None);
    assert_eq!(store.commit(vec![put(&key, Expected::Absent, 1)]).await.unwrap(), Committed::Done);
}

async fn a_hundred_writes_are_one(store: &impl Store) {
    let key = |number: usize| Key::new("many", format!("{number:03}"));
    let writes = |count| (0..count).map(|number| put(&key(number), Expected::Absent, 1)).collect::<Vec<_>>();
    assert_eq!(store.commit(writes(MOST_WRITES)).await.unwrap(), Committed::Done);
    assert_eq!(version(store, &key(99)).await, Some(1));
    let refused = store.commit(writes(MOST_WRITES + 1)).await.unwrap_err();
    assert_eq!(refused.remedy, Remedy::Permanent, "{refused}");
    let twice = vec![put(&key(0), Expected::Any, 1), put(&key(0), Expected::Any, 2)];
    assert_eq!(store.commit(twice).await.unwrap_err().remedy, Remedy::Permanent);
    assert_eq!(store.commit(Vec::new()).await.unwrap(), Committed::Done);
}

async fn one_of_two_racing_writers_wins<S: Store + 'static>(store: Arc<S>) {
    let key = Key::new("p", "contended");
    store.commit(vec![put(&key, Expected::Absent, 0)]).await.unwrap();
    let racers = (0..16).map(|number| {
        let (store, key) = (store.clone(), key.clone());
        tokio::spawn(
            async move { store.commit(vec![put(&key, Expected::Version(1), number)]).await.unwrap() },
        )
    });
    let mut won = 0;
    for racer in racers.collect::<Vec<_>>() {
        won += usize::from(racer.await.unwrap() == Committed::Done);
    }
    assert_eq!((won, version(&*store, &key).await), (1, Some(2)));
}
