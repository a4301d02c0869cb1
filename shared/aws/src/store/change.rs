//! A write, as DynamoDB is asked for it: the expressions that check what must be there before and set what is there after.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::Value;
use yuba_core::record::{Index, IndexEntry, Key};
use yuba_ports::{Expected, PortError, Write};

use super::layout::{Attributes, Layout, place};
use crate::table::{self, BODY, COMMIT, EXPIRES, PARTITION, SORT, VERSION};

/// The most that an item may hold: 400 KB, names included.
/// <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html>
const LARGEST_ITEM: usize = 400 * 1024;
/// The most that a sort key may hold, in bytes, in the table and in an index.
const LONGEST_SORT: usize = 1024;

/// A write of one item.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Change {
    /// What is done.
    pub(super) action: Action,
    /// The record.
    pub(super) record: Key,
    /// The item's key.
    pub(super) key: Attributes,
    /// What must hold before; `None` demands nothing.
    pub(super) condition: Option<String>,
    /// The names that stand in the expressions.
    pub(super) names: HashMap<String, String>,
    /// The values that stand in the expressions.
    pub(super) values: HashMap<String, AttributeValue>,
}

/// What a change does.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    /// Sets attributes, by this expression, whether or not there is an item.
    Update(String),
    /// Deletes the item.
    Delete,
    /// Nothing.
    Check,
}

/// What an expression speaks of, by short names: attributes' names may hold any letter, expressions may not.
#[derive(Default)]
struct Aliases {
    names: HashMap<String, String>,
    values: HashMap<String, AttributeValue>,
}

impl Aliases {
    fn name(&mut self, attribute: &str) -> String {
        let alias = format!("#n{}", self.names.len());
        self.names.insert(alias.clone(), attribute.to_owned());
        alias
    }

    fn value(&mut self, value: AttributeValue) -> String {
        let alias = format!(":v{}", self.values.len());
        self.values.insert(alias.clone(), value);
        alias
    }
}

/// A write that demands and changes nothing is no change: `None`.
pub(super) fn change(layout: &Layout, write: &Write, commit: &str) -> Result<Option<Change>, PortError> {
    let mut aliases = Aliases::default();
    let action = match write {
        Write::Put { key, expected, body, indexes } => {
            let attributes = attributes(layout, key, (body, indexes), commit)?;
            Action::Update(update(&mut aliases, *expected, attributes))
        }
        Write::Delete { .. } => Action::Delete,
        Write::Check { expected: Expected::Any, .. } => return Ok(None),
        Write::Check { .. } => Action::Check,
    };
    let condition = condition(&mut aliases, write.expected());
    let (record, key) = (write.key().clone(), layout.key(write.key()));
    let Aliases { names, values } = aliases;
    Ok(Some(Change { action, record, key, condition, names, values }))
}

fn condition(aliases: &mut Aliases, expected: Expected) -> Option<String> {
    match expected {
        Expected::Any => None,
        Expected::Absent => Some(format!("attribute_not_exists({})", aliases.name(PARTITION))),
        Expected::Version(version) => {
            let version = AttributeValue::N(version.to_string());
            Some(format!("{} = {}", aliases.name(VERSION), aliases.value(version)))
        }
    }
}

/// Sets the attributes, removes the entries that an older version may have had, and counts the write.
fn update(aliases: &mut Aliases, expected: Expected, attributes: Vec<(&str, AttributeValue)>) -> String {
    let gone: Vec<String> = optional()
        .filter(|name| expected != Expected::Absent && attributes.iter().all(|(set, _)| set != name))
        .map(|name| aliases.name(name))
        .collect();
    let set: Vec<String> = attributes
        .into_iter()
        .map(|(name, value)| format!("{} = {}", aliases.name(name), aliases.value(value)))
        .collect();
    let one = AttributeValue::N("1".to_owned());
    let add = format!("ADD {} {}", aliases.name(VERSION), aliases.value(one));
    let remove = if gone.is_empty() { String::new() } else { format!(" REMOVE {}", gone.join(", ")) };
    format!("SET {} {add}{remove}", set.join(", "))
}

/// The attributes that an item may or may not have.
fn optional() -> impl Iterator<Item = &'static str> {
    let of_index = |index| [table::of(index).partition, table::of(index).sort];
    Index::ALL.into_iter().flat_map(of_index).chain([EXPIRES])
}

/// What an item holds beside its key and version.
fn attributes(
    layout: &Layout,
    key: &Key,
    (body, entries): (&Value, &[IndexEntry]),
    commit: &str,
) -> Result<Vec<(&'static str, AttributeValue)>, PortError> {
    let mut attributes =
        vec![(BODY, AttributeValue::S(body.to_string())), (COMMIT, AttributeValue::S(commit.to_owned()))];
    for entry in entries {
        let index = table::of(entry.index);
        if attributes.iter().any(|(name, _)| *name == index.sort) {
            return Err(refused(key, &format!("it has two entries in the index `{}`", index.name)));
        }
        attributes.push((index.partition, AttributeValue::S(layout.shard_of(index, key))));
        attributes.push((index.sort, AttributeValue::S(place(&entry.value, key))));
        if entry.index == Index::Expires {
            attributes.push((EXPIRES, AttributeValue::N(seconds(key, &entry.value)?)));
        }
    }
    check_size(layout, key, &attributes)?;
    Ok(attributes)
}

/// The value of [`Index::Expires`], which is in milliseconds, in whole seconds that are not earlier.
fn seconds(key: &Key, value: &str) -> Result<String, PortError> {
    let milliseconds: u64 = value
        .parse()
        .map_err(|_| refused(key, &format!("`{value}` in the index `expires` is no point in time")))?;
    Ok(milliseconds.div_ceil(1000).to_string())
}

fn check_size(
    layout: &Layout,
    key: &Key,
    attributes: &[(&'static str, AttributeValue)],
) -> Result<(), PortError> {
    let length = |value: &AttributeValue| value.as_s().or(value.as_n()).map_or(0, String::len);
    let long = attributes
        .iter()
        .filter(|(name, _)| *name != BODY)
        .find(|(_, value)| length(value) > LONGEST_SORT)
        .map(|(name, _)| *name)
        .or_else(|| (key.sort.len() > LONGEST_SORT).then_some(SORT));
    if let Some(name) = long {
        return Err(refused(key, &format!("its `{name}` is longer than {LONGEST_SORT} bytes")));
    }
    let keys = PARTITION.len() + layout.partition(&key.partition).len() + SORT.len() + key.sort.len();
    let version = VERSION.len() + 21;
    let held: usize = attributes.iter().map(|(name, value)| name.len() + length(value)).sum();
    let size = keys + version + held;
    if size > LARGEST_ITEM {
        let most = format!("it holds {size} bytes, and an item of DynamoDB at most {LARGEST_ITEM}");
        return Err(refused(key, &most));
    }
    Ok(())
}

fn refused(key: &Key, why: &str) -> PortError {
    PortError::permanent(format!("record {key} cannot be written: {why}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use yuba_core::id::InstallationId;
    use yuba_core::record::sortable;
    use yuba_core::time::Timestamp;
    use yuba_ports::Remedy;

    use super::*;

    fn put(expected: Expected, body: Value, indexes: Vec<IndexEntry>) -> Result<Change, PortError> {
        let layout = Layout::new(&InstallationId("prod".to_owned()));
        let write = Write::Put { key: Key::new("p", "s"), expected, body, indexes };
        change(&layout, &write, "commit-1").map(|change| change.unwrap())
    }

    #[test]
    fn a_time_to_live_is_never_earlier_than_the_entry_says() {
        let at = |milliseconds| {
            let entry = IndexEntry::new(Index::Expires, sortable(Timestamp(milliseconds)));
            let change = put(Expected::Absent, json!({}), vec![entry]).unwrap();
            let alias = change.names.iter().find(|(_, name)| *name == EXPIRES).unwrap().0.clone();
            let Action::Update(update) = &change.action else { panic!("a put updates") };
            let (_, after) = update.split_once(&format!("{alias} = ")).unwrap();
            let value = after.split([',', ' ']).next().unwrap();
            change.values[value].as_n().unwrap().clone()
        };
        assert_eq!([at(5000), at(5001), at(5999)], ["5", "6", "6"]);
    }

    #[test]
    fn an_item_that_is_too_large_is_refused_with_its_size() {
        let error = put(Expected::Any, json!({"text": "x".repeat(LARGEST_ITEM)}), Vec::new()).unwrap_err();
        assert_eq!(error.remedy, Remedy::Permanent);
        assert!(error.what.starts_with("record p/s cannot be written: it holds 40966"), "{error}");
        assert!(put(Expected::Any, json!({"text": "x".repeat(LARGEST_ITEM - 200)}), Vec::new()).is_ok());
    }

    #[test]
    fn entries_that_no_index_can_hold_are_refused() {
        let twice = vec![IndexEntry::new(Index::Due, "1"), IndexEntry::new(Index::Due, "2")];
        for entries in [
            twice,
            vec![IndexEntry::new(Index::Stacks, "x".repeat(LONGEST_SORT))],
            vec![IndexEntry::new(Index::Expires, "soon")],
        ] {
            assert_eq!(put(Expected::Any, json!({}), entries).unwrap_err().remedy, Remedy::Permanent);
        }
    }
}
