//! The DynamoDB table as data: what its deployment must create, and what [`crate::DynamoStore`] relies on.
//!
//! An item is one record. Its partition key is `<installation>#<partition>`, its sort key the record's own. For each
//! [`Index`] there is one global secondary index of that name, which projects keys only and holds the records that have
//! an entry in it. See `docs/decisions/0005-dynamodb-table.md`.

use yuba_core::record::Index;

/// The attribute that is the table's partition key, a string.
pub const PARTITION: &str = "pk";
/// The attribute that is the table's sort key, a string.
pub const SORT: &str = "sk";
/// The attribute that the table's time to live is switched on for: seconds since 1970, a number.
pub const EXPIRES: &str = "ttl";

/// The record's version, a number.
pub(crate) const VERSION: &str = "version";
/// The record's body, JSON as a string.
pub(crate) const BODY: &str = "body";
/// The commit that wrote the item last, a string: tells whose write it is when an answer was lost.
pub(crate) const COMMIT: &str = "commit";

/// A global secondary index of the table, projecting keys only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableIndex {
    /// Its name.
    pub name: &'static str,
    /// The attribute that is its partition key, a string: `<installation>#<shard>`.
    pub partition: &'static str,
    /// The attribute that is its sort key, a string: the entry's value, then the record's keys.
    pub sort: &'static str,
    /// Over how many partitions an installation's entries are spread.
    pub(crate) shards: u8,
}

/// The global secondary index of an [`Index`].
///
/// DynamoDB takes 1,000 writes a second into one partition of an index. Lists that change as often as runs do are
/// spread over four; names are written once per object, so one does for them.
pub const fn of(index: Index) -> TableIndex {
    match index {
        Index::Due => spread("due", "due-shard"),
        Index::Effects => spread("effects", "effects-shard"),
        Index::Runs => spread("runs", "runs-shard"),
        Index::Events => spread("events", "events-shard"),
        Index::Expires => spread("expires", "expires-shard"),
        Index::Stacks => whole("stacks", "stacks-shard"),
        Index::Sources => whole("sources", "sources-shard"),
        Index::Manifests => whole("manifests", "manifests-shard"),
    }
}

const fn spread(name: &'static str, partition: &'static str) -> TableIndex {
    TableIndex { name, partition, sort: name, shards: 4 }
}

const fn whole(name: &'static str, partition: &'static str) -> TableIndex {
    TableIndex { name, partition, sort: name, shards: 1 }
}
