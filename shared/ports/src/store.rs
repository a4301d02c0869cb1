//! `Store`: versioned records, committed together or not at all.

use std::collections::BTreeSet;
use std::str::FromStr;

use async_trait::async_trait;
use serde_json::Value;
use yuba_core::record::{Index, IndexEntry, Key};

use crate::error::PortError;

/// Versioned records. On AWS one DynamoDB table, on one machine one SQLite table.
#[async_trait]
pub trait Store: Send + Sync {
    /// Reads one record as it was last committed; `None` where there is none.
    async fn get(&self, key: &Key) -> Result<Option<Item>, PortError>;

    /// Writes up to 100 records, all or none, each only if it is as expected.
    async fn commit(&self, writes: Vec<Write>) -> Result<Committed, PortError>;

    /// Lists records of a partition in the order of their sort key, or of an index in the order of its value.
    ///
    /// An index may lag behind the records; a partition does not.
    async fn query(&self, query: Query) -> Result<Page, PortError>;
}

/// A record as it lies in the store.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Where it lies.
    pub key: Key,
    /// Counts every write of it, from 1.
    pub version: u64,
    /// Its body: an object with a `schema` number.
    pub body: Value,
    /// The index entries it is found by.
    pub indexes: Vec<IndexEntry>,
}

/// What a write expects to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// No record.
    Absent,
    /// The record at this version.
    Version(u64),
    /// Anything.
    Any,
}

/// One write of a commit.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// Writes the record, with the next version.
    Put {
        /// Where.
        key: Key,
        /// What must be there before.
        expected: Expected,
        /// The new body.
        body: Value,
        /// The new index entries; the old ones go.
        indexes: Vec<IndexEntry>,
    },
    /// Deletes the record.
    Delete {
        /// Where.
        key: Key,
        /// What must be there before.
        expected: Expected,
    },
    /// Writes nothing, but demands.
    Check {
        /// Where.
        key: Key,
        /// What must be there.
        expected: Expected,
    },
}

/// What became of a commit. A lost race is no error: load and decide again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Committed {
    /// All was written.
    Done,
    /// Nothing was written: this record was not as expected.
    Conflict(Key),
}

/// How many writes a commit may hold: as many as one DynamoDB transaction.
pub const MOST_WRITES: usize = 100;

impl Write {
    /// The record it concerns.
    pub fn key(&self) -> &Key {
        match self {
            Self::Put { key, .. } | Self::Delete { key, .. } | Self::Check { key, .. } => key,
        }
    }

    /// What must be there before.
    pub fn expected(&self) -> Expected {
        match self {
            Self::Put { expected, .. } | Self::Delete { expected, .. } | Self::Check { expected, .. } => {
                *expected
            }
        }
    }

    /// Refuses, permanently, what no store can commit: more than [`MOST_WRITES`], or two writes of one record.
    pub fn check_all(writes: &[Self]) -> Result<(), PortError> {
        if writes.len() > MOST_WRITES {
            let count = writes.len();
            return Err(PortError::permanent(format!(
                "a commit of {count} writes; at most {MOST_WRITES} fit"
            )));
        }
        let mut seen = BTreeSet::new();
        match writes.iter().find(|write| !seen.insert(write.key())) {
            None => Ok(()),
            Some(twice) => Err(PortError::permanent(format!("a commit writes record {} twice", twice.key()))),
        }
    }
}

impl Expected {
    /// Whether a record at this version, or none, is what was expected.
    pub fn is_met_by(self, version: Option<u64>) -> bool {
        match self {
            Self::Absent => version.is_none(),
            Self::Version(expected) => version == Some(expected),
            Self::Any => true,
        }
    }
}

/// An opaque place in a list, to go on from. It may stand in a URL as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(pub String);

impl Cursor {
    /// For implementations: the place that these texts name.
    pub fn of(parts: [&str; 3]) -> Self {
        Self(hex::encode(serde_json::Value::from(parts.as_slice()).to_string()))
    }

    /// For implementations: the texts of [`Cursor::of`]. A cursor that no list gave out is refused.
    pub fn parts(&self) -> Result<[String; 3], PortError> {
        hex::decode(&self.0)
            .ok()
            .and_then(|text| serde_json::from_slice::<Vec<String>>(&text).ok())
            .and_then(|parts| <[String; 3]>::try_from(parts).ok())
            .ok_or_else(|| PortError::permanent(NotACursor.to_string()))
    }
}

/// A text that no list gave out as a cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is not one that a list gave out")]
pub struct NotACursor;

impl FromStr for Cursor {
    type Err = NotACursor;

    /// Reads a cursor that somebody hands back: what is none is told apart before a store is asked.
    fn from_str(text: &str) -> Result<Self, NotACursor> {
        let cursor = Self(text.to_owned());
        match cursor.parts() {
            Ok(_) => Ok(cursor),
            Err(_) => Err(NotACursor),
        }
    }
}

/// In which direction a list runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Order {
    /// Smallest first.
    #[default]
    Ascending,
    /// Greatest first.
    Descending,
}

/// Which records to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// Those of a partition whose sort key starts with a text (which may be empty).
    Partition {
        /// The partition.
        partition: String,
        /// What sort keys start with.
        prefix: String,
        /// In which direction.
        order: Order,
        /// Go on after this place.
        after: Option<Cursor>,
        /// How many at most.
        limit: usize,
    },
    /// Those of an index.
    Index {
        /// The index.
        index: Index,
        /// Only values that start with this.
        prefix: String,
        /// Only values up to and including this one.
        up_to: Option<String>,
        /// In which direction.
        order: Order,
        /// Go on after this place.
        after: Option<Cursor>,
        /// How many at most.
        limit: usize,
    },
}

/// Some records of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The records.
    pub items: Vec<Item>,
    /// Where to go on, if there may be more.
    pub next: Option<Cursor>,
}
