//! The contract of `Store`: lists, pages and indexes.

use yuba_core::record::{Index, IndexEntry, Key};

use super::store::{put, put_indexed};
use crate::{Cursor, Expected, Order, Query, Remedy, Store, Write};

pub(super) async fn lists<S: Store>(fresh: &mut impl AsyncFnMut() -> S) {
    a_partition_is_listed_by_prefix(&fresh().await).await;
    pages_neither_lose_nor_repeat(&fresh().await).await;
    an_index_is_ordered_by_value(&fresh().await).await;
    equal_values_are_paged_through(&fresh().await).await;
    index_entries_are_replaced(&fresh().await).await;
    a_foreign_cursor_is_refused(&fresh().await).await;
}

fn partition(prefix: &str, order: Order, after: Option<Cursor>, limit: usize) -> Query {
    Query::Partition { partition: "p".to_owned(), prefix: prefix.to_owned(), order, after, limit }
}

fn due(prefix: &str, up_to: Option<&str>, order: Order, (after, limit): (Option<Cursor>, usize)) -> Query {
    let (prefix, up_to) = (prefix.to_owned(), up_to.map(str::to_owned));
    Query::Index { index: Index::Due, prefix, up_to, order, after, limit }
}

async fn fill(store: &impl Store, sorts: &[&str]) {
    for sort in sorts {
        store.commit(vec![put(&Key::new("p", *sort), Expected::Any, 1)]).await.unwrap();
    }
    store.commit(vec![put(&Key::new("other", "a1"), Expected::Any, 1)]).await.unwrap();
}

async fn fill_due(store: &impl Store, entries: &[(&str, &str)]) {
    for (sort, value) in entries {
        let indexes = vec![IndexEntry::new(Index::Due, *value), IndexEntry::new(Index::Stacks, "elsewhere")];
        store.commit(vec![put_indexed(&Key::new("p", *sort), Expected::Any, 1, indexes)]).await.unwrap();
    }
}

async fn sorts(store: &impl Store, query: Query) -> Vec<String> {
    store.query(query).await.unwrap().items.into_iter().map(|item| item.key.sort).collect()
}

/// All pages of a list, each with at most `limit` records.
async fn paged(store: &impl Store, limit: usize, query: impl Fn(Option<Cursor>) -> Query) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = store.query(query(after.take())).await.unwrap();
        assert!(page.items.len() <= limit);
        assert!(page.next.is_none() || page.items.len() == limit, "a page with a next one is full");
        all.extend(page.items.into_iter().map(|item| item.key.sort));
        match page.next {
            None => return all,
            next => after = next,
        }
        assert!(all.len() < 1000, "the list does not end");
    }
}

async fn a_partition_is_listed_by_prefix(store: &impl Store) {
    fill(store, &["a1", "b", "a2", "a", "a%", "ä", "a\u{1F980}"]).await;
    let ascending = partition("a", Order::Ascending, None, 50);
    assert_eq!(sorts(store, ascending).await, ["a", "a%", "a1", "a2", "a\u{1F980}"]);
    let descending = partition("a", Order::Descending, None, 3);
    assert_eq!(sorts(store, descending).await, ["a\u{1F980}", "a2", "a1"]);
    assert_eq!(sorts(store, partition("", Order::Ascending, None, 50)).await.len(), 7);
    assert_eq!(sorts(store, partition("nothing", Order::Ascending, None, 50)).await, [""; 0]);
}

async fn pages_neither_lose_nor_repeat(store: &impl Store) {
    let names: Vec<String> = (0..10).map(|number| format!("run#{number}")).collect();
    fill(store, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    fill(store, &["definition", "stack"]).await;
    for limit in [1, 3, 5, 10, 11] {
        let up = paged(store, limit, |after| partition("run#", Order::Ascending, after, limit)).await;
        assert_eq!(up, names, "limit {limit}");
        let down = paged(store, limit, |after| partition("run#", Order::Descending, after, limit)).await;
        assert_eq!(down, names.iter().rev().cloned().collect::<Vec<_>>(), "limit {limit}");
    }
    let page = store.query(partition("run#", Order::Ascending, None, 10)).await.unwrap();
    assert_eq!(page.next, None, "a list that ends with the page has no next one");
}

async fn an_index_is_ordered_by_value(store: &impl Store) {
    fill_due(store, &[("z", "001"), ("y", "002"), ("x", "0025"), ("w", "010")]).await;
    let all = (None, 50);
    assert_eq!(sorts(store, due("", None, Order::Ascending, all.clone())).await, ["z", "y", "x", "w"]);
    assert_eq!(sorts(store, due("", Some("002"), Order::Ascending, all.clone())).await, ["z", "y"]);
    assert_eq!(sorts(store, due("", Some("002"), Order::Descending, all.clone())).await, ["y", "z"]);
    assert_eq!(sorts(store, due("002", None, Order::Descending, all.clone())).await, ["x", "y"]);
    assert_eq!(sorts(store, due("002", Some("0024"), Order::Ascending, all)).await, ["y"]);
}

async fn equal_values_are_paged_through(store: &impl Store) {
    let names: Vec<String> = (0..7).map(|number| format!("s{number}")).collect();
    let entries: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "same")).collect();
    fill_due(store, &entries).await;
    fill_due(store, &[("first", "a"), ("last", "z")]).await;
    for limit in [1, 2, 3, 9] {
        let up = paged(store, limit, |after| due("", None, Order::Ascending, (after, limit))).await;
        let mut down = paged(store, limit, |after| due("", None, Order::Descending, (after, limit))).await;
        down.reverse();
        assert_eq!((&up, up.len()), (&down, 9), "limit {limit}");
        let some =
            paged(store, limit, |after| due("s", Some("same"), Order::Descending, (after, limit))).await;
        assert_eq!(some.into_iter().rev().collect::<Vec<_>>(), names, "limit {limit}");
    }
}

async fn index_entries_are_replaced(store: &impl Store) {
    fill_due(store, &[("a", "5")]).await;
    fill_due(store, &[("a", "7")]).await;
    assert_eq!(sorts(store, due("5", None, Order::Ascending, (None, 9))).await, [""; 0]);
    let page = store.query(due("7", None, Order::Ascending, (None, 9))).await.unwrap();
    let expected = [IndexEntry::new(Index::Due, "7"), IndexEntry::new(Index::Stacks, "elsewhere")];
    assert_eq!((page.items[0].indexes.as_slice(), page.items[0].version), (expected.as_slice(), 2));
    let key = Key::new("p", "a");
    store.commit(vec![put(&key, Expected::Version(2), 1)]).await.unwrap();
    assert_eq!(sorts(store, due("", None, Order::Ascending, (None, 9))).await, [""; 0]);
    assert_eq!(store.get(&key).await.unwrap().unwrap().indexes, []);
    fill_due(store, &[("a", "8")]).await;
    let delete = Write::Delete { key, expected: Expected::Any };
    store.commit(vec![delete]).await.unwrap();
    assert_eq!(sorts(store, due("", None, Order::Ascending, (None, 9))).await, [""; 0]);
}

async fn a_foreign_cursor_is_refused(store: &impl Store) {
    for text in ["", "nonsense", "5b5d"] {
        let after = Some(Cursor(text.to_owned()));
        let refused = store.query(partition("", Order::Ascending, after, 5)).await.unwrap_err();
        assert_eq!(refused.remedy, Remedy::Permanent, "{text}");
    }
}
