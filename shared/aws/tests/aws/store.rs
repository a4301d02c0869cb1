//! What is particular to records in DynamoDB.

use aws_config::SdkConfig;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, BillingMode, GlobalSecondaryIndex, KeySchemaElement, KeyType, Projection,
    ProjectionType, ScalarAttributeType,
};
use serde_json::json;
use yuba_aws::{DynamoStore, StoreSettings, table};
use yuba_core::record::{Index, Key};
use yuba_ports::{Committed, Expected, Order, Query, Remedy, Store, Write};

use crate::emulator::{emulator, fresh_installation, fresh_name};
use crate::script::{Script, config_of, losing};

/// Creates the table that the store describes.
pub(crate) async fn create_table(config: &SdkConfig, name: &str) {
    let indexes: Vec<_> = Index::ALL.into_iter().map(table::of).collect();
    let names = indexes.iter().flat_map(|index| [index.partition, index.sort]);
    let attributes = names.chain([table::PARTITION, table::SORT]).map(attribute).collect();
    Client::new(config)
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .set_attribute_definitions(Some(attributes))
        .set_key_schema(Some(schema(table::PARTITION, table::SORT)))
        .set_global_secondary_indexes(Some(indexes.into_iter().map(index).collect()))
        .send()
        .await
        .unwrap();
}

/// An installation of no other test, in a table.
pub(crate) fn fresh_settings(table: impl Into<String>) -> StoreSettings {
    StoreSettings { installation: fresh_installation(), table: table.into() }
}

fn attribute(name: &str) -> AttributeDefinition {
    let text = AttributeDefinition::builder().attribute_type(ScalarAttributeType::S);
    text.attribute_name(name).build().unwrap()
}

fn schema(partition: &str, sort: &str) -> Vec<KeySchemaElement> {
    let key = |name, kind| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().unwrap();
    vec![key(partition, KeyType::Hash), key(sort, KeyType::Range)]
}

fn index(index: table::TableIndex) -> GlobalSecondaryIndex {
    GlobalSecondaryIndex::builder()
        .index_name(index.name)
        .set_key_schema(Some(schema(index.partition, index.sort)))
        .projection(Projection::builder().projection_type(ProjectionType::KeysOnly).build())
        .build()
        .unwrap()
}

/// A put of a body of one number.
fn put(key: &Key, expected: Expected, number: u64) -> Write {
    Write::Put { key: key.clone(), expected, body: json!({"schema": 1, "n": number}), indexes: Vec::new() }
}

/// A store whose first answers are lost; and the same records, all of whose answers arrive.
async fn losing_store(lost: usize) -> (DynamoStore, DynamoStore) {
    let (config, table, installation) = (emulator().config().await, fresh_name(), fresh_installation());
    create_table(&config, &table).await;
    let lossy = config_of(losing(emulator().address(), lost).await).await;
    let settings = StoreSettings { installation, table };
    (DynamoStore::new(&lossy, &settings), DynamoStore::new(&config, &settings))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_whose_answer_was_lost_is_known_to_be_done() {
    let (first, second) = (Key::new("p", "1"), Key::new("p", "2"));
    // One lost answer is asked for again; where all four tries lose theirs, the record tells.
    for lost in [1, 4] {
        let (store, records) = losing_store(lost).await;
        let single = vec![put(&first, Expected::Absent, 1)];
        assert_eq!(store.commit(single).await.unwrap(), Committed::Done, "{lost} answers lost");
        assert_eq!(records.get(&first).await.unwrap().unwrap().version, 1);
        let (store, records) = losing_store(lost).await;
        let both = vec![put(&first, Expected::Absent, 1), put(&second, Expected::Any, 2)];
        assert_eq!(store.commit(both).await.unwrap(), Committed::Done, "{lost} answers lost");
        assert_eq!(records.get(&second).await.unwrap().unwrap().version, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_race_that_was_lost_is_told_from_an_answer_that_was_lost() {
    let key = Key::new("p", "1");
    let (store, other) = losing_store(1).await;
    other.commit(vec![put(&key, Expected::Absent, 7)]).await.unwrap();
    let lost = store.commit(vec![put(&key, Expected::Absent, 8)]).await.unwrap();
    assert_eq!(lost, Committed::Conflict(key.clone()));
    assert_eq!(other.get(&key).await.unwrap().unwrap().body["n"], 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_is_not_there_is_named_and_permanent() {
    let store = DynamoStore::new(&emulator().config().await, &fresh_settings(fresh_name()));
    let error = store.get(&Key::new("p", "s")).await.unwrap_err();
    assert_eq!(error.remedy, Remedy::Permanent);
    assert!(error.what.starts_with("reading record p/s: ResourceNotFoundException"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_throttled_table_and_a_busy_item_may_be_tried_again() {
    let throttled =
        r#"{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"slow down"}"#;
    let script = Script::start(&[(400, throttled); 4]).await;
    let store = DynamoStore::new(&script.config().await, &fresh_settings("table"));
    let error = store.get(&Key::new("p", "s")).await.unwrap_err();
    assert_eq!((error.remedy, script.asked().len()), (Remedy::Transient, 4), "{error}");
    let busy = r#"{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"cancelled",
        "CancellationReasons":[{"Code":"TransactionConflict"},{"Code":"None"}]}"#;
    let script = Script::start(&[(400, busy), (400, busy), (200, "{}")]).await;
    let store = DynamoStore::new(&script.config().await, &fresh_settings("table"));
    let writes = [1, 2].map(|number| put(&Key::new("p", number.to_string()), Expected::Any, number));
    assert_eq!(store.commit(writes.to_vec()).await.unwrap(), Committed::Done);
    assert_eq!(script.asked().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_is_no_longer_its_records_is_passed_over() {
    let settings = fresh_settings("table");
    let id = &settings.installation;
    let item = |sort: &str, place: &str, rest: &str| {
        format!(
            r#"{{"pk":{{"S":"{id}#p"}},"sk":{{"S":"{sort}"}},"stacks":{{"S":"{place}\u0000p\u0000{sort}"}}{rest}}}"#
        )
    };
    let rest = r#","version":{"N":"2"},"body":{"S":"{}"}"#;
    let listed = format!(r#"{{"Items":[{},{}]}}"#, item("1", "old", ""), item("2", "same", ""));
    let read =
        format!(r#"{{"Responses":{{"table":[{},{}]}}}}"#, item("2", "same", rest), item("1", "new", rest));
    let script = Script::start(&[(200, &listed), (200, &read)]).await;
    let store = DynamoStore::new(&script.config().await, &settings);
    let (index, prefix, order) = (Index::Stacks, String::new(), Order::Ascending);
    let page =
        store.query(Query::Index { index, prefix, up_to: None, order, after: None, limit: 9 }).await.unwrap();
    let sorts: Vec<&str> = page.items.iter().map(|item| item.key.sort.as_str()).collect();
    assert_eq!((sorts.as_slice(), page.next), (["2"].as_slice(), None));
}
