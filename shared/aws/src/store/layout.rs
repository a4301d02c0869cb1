//! How records lie in the table: from keys, entries and bodies to attributes, and back.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use sha2::{Digest, Sha256};
use yuba_core::id::InstallationId;
use yuba_core::record::{Index, IndexEntry, Key};
use yuba_ports::{Item, PortError};

use crate::table::{self, BODY, COMMIT, PARTITION, SORT, TableIndex, VERSION};

/// The attributes of an item, or of a key.
pub(super) type Attributes = HashMap<String, AttributeValue>;

/// Stands between the parts of a place in an index: less than every letter, so that places sort as triples do.
const BETWEEN_PARTS: char = '\0';

/// The names of one installation's records.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    installation: String,
}

impl Layout {
    pub(super) fn new(installation: &InstallationId) -> Self {
        Self { installation: installation.to_string() }
    }

    /// The table's partition key for a partition of records.
    pub(super) fn partition(&self, partition: &str) -> String {
        format!("{}#{partition}", self.installation)
    }

    /// The attributes of a record's key.
    pub(super) fn key(&self, key: &Key) -> Attributes {
        let pair = |name: &str, value: String| (name.to_owned(), AttributeValue::S(value));
        HashMap::from([pair(PARTITION, self.partition(&key.partition)), pair(SORT, key.sort.clone())])
    }

    /// The partition of an index that holds a record's entry.
    pub(super) fn shard_of(&self, index: TableIndex, key: &Key) -> String {
        let digest = Sha256::digest(key.to_string());
        self.shard(digest.first().copied().unwrap_or(0) % index.shards)
    }

    /// All partitions of an index that hold entries of this installation.
    pub(super) fn shards(&self, index: TableIndex) -> Vec<String> {
        (0..index.shards).map(|number| self.shard(number)).collect()
    }

    fn shard(&self, number: u8) -> String {
        format!("{}#{number}", self.installation)
    }

    /// The key that an item's attributes hold.
    pub(super) fn read_key(&self, attributes: &Attributes) -> Result<Key, PortError> {
        let partition = text(attributes, PARTITION)?;
        let own = partition.strip_prefix(&self.installation).and_then(|rest| rest.strip_prefix('#'));
        let own = own.ok_or_else(|| unreadable(PARTITION, "it belongs to another installation"))?;
        Ok(Key::new(own, text(attributes, SORT)?))
    }

    /// The record that an item's attributes hold.
    pub(super) fn read(&self, attributes: &Attributes) -> Result<Item, PortError> {
        let version = match attributes.get(VERSION) {
            Some(AttributeValue::N(number)) => number.parse().ok(),
            _ => None,
        };
        Ok(Item {
            key: self.read_key(attributes)?,
            version: version.ok_or_else(|| unreadable(VERSION, "it is no number"))?,
            body: serde_json::from_str(text(attributes, BODY)?)
                .map_err(|error| unreadable(BODY, "it is no JSON").because(error))?,
            indexes: Index::ALL.into_iter().filter_map(|index| entry(attributes, index)).collect(),
        })
    }
}

/// The place of an entry in its index. Places are compared as texts.
pub(super) fn place(value: &str, key: &Key) -> String {
    [value, &key.partition, &key.sort].join(&BETWEEN_PARTS.to_string())
}

/// Whether an item was written last by the commit.
pub(super) fn is_written_by(attributes: &Attributes, commit: &str) -> bool {
    text(attributes, COMMIT).is_ok_and(|found| found == commit)
}

/// The text of an attribute.
pub(super) fn text<'a>(attributes: &'a Attributes, name: &str) -> Result<&'a str, PortError> {
    match attributes.get(name) {
        Some(AttributeValue::S(text)) => Ok(text),
        _ => Err(unreadable(name, "it is no text")),
    }
}

fn entry(attributes: &Attributes, index: Index) -> Option<IndexEntry> {
    let place = text(attributes, table::of(index).sort).ok()?;
    let (value, _) = place.split_once(BETWEEN_PARTS)?;
    Some(IndexEntry::new(index, value))
}

fn unreadable(attribute: &str, why: &str) -> PortError {
    PortError::permanent(format!("an item of the table cannot be read: attribute `{attribute}`: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        Layout::new(&InstallationId("prod".to_owned()))
    }

    #[test]
    fn places_sort_as_triples_do() {
        let triples =
            [("a", "p", "s"), ("a", "p", "t"), ("a", "p0", "a"), ("a!", "a", "a"), ("a0", "a", "a")];
        let places: Vec<String> = triples
            .iter()
            .map(|(value, partition, sort)| place(value, &Key::new(*partition, *sort)))
            .collect();
        assert!(places.is_sorted_by(|one, next| one < next), "{places:?}");
    }

    #[test]
    fn an_item_of_another_installation_is_not_read() {
        let key = Key::new("stack#1", "stack");
        let attributes = layout().key(&key);
        assert_eq!(layout().read_key(&attributes).unwrap(), key);
        for other in ["pro", "prod2", "test"] {
            let other = Layout::new(&InstallationId(other.to_owned()));
            assert!(other.read_key(&attributes).is_err());
        }
    }

    #[test]
    fn an_index_is_spread_over_all_its_partitions() {
        let index = table::of(Index::Due);
        let mut used: Vec<String> = (0..99)
            .map(|number| layout().shard_of(index, &Key::new(format!("stack#{number}"), "stack")))
            .collect();
        used.sort();
        used.dedup();
        assert_eq!(used, layout().shards(index));
    }
}
