//! Lists: of a partition straight from the table, of an index by merging its shards.
//!
//! An index holds keys only. Its records are read from the table afterwards, and one that no longer has the entry is
//! passed over: an entry may be missing for a moment, but none is ever wrong.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes};
use futures_util::future::try_join_all;
use yuba_core::record::{Index, Key};
use yuba_ports::{Cursor, Item, Order, Page, PortError, Query};

use super::DynamoStore;
use super::bounds::Bounds;
use super::layout::{Attributes, place, text};
use crate::error::port_error;
use crate::table::{self, PARTITION, SORT, TableIndex};

/// How many records one request reads at most, by key.
const MOST_KEYS: usize = 100;
/// How often records that DynamoDB left out of an answer are asked for again.
const MOST_REQUESTS: usize = 20;

/// What is listed.
enum Scope {
    Partition(String),
    Index(Index),
}

/// A list, from where it goes on.
struct Listing {
    scope: Scope,
    bounds: Bounds,
    order: Order,
    limit: usize,
}

/// The entry of a record in an index.
struct Entry {
    place: String,
    key: Key,
}

/// One partition, of the table or an index, that is read in order.
struct Run<'a> {
    index: Option<TableIndex>,
    partition: String,
    bounds: &'a Bounds,
    order: Order,
}

impl Listing {
    fn of(query: Query) -> Result<Self, PortError> {
        let (scope, bounds, order, after, limit) = match query {
            Query::Partition { partition, prefix, order, after, limit } => {
                (Scope::Partition(partition), Bounds::starting_with(&prefix), order, after, limit)
            }
            Query::Index { index, prefix, up_to, order, after, limit } => {
                let bounds = Bounds::starting_with(&prefix);
                let bounds = match up_to {
                    Some(most) => bounds.up_to(&most),
                    None => bounds,
                };
                (Scope::Index(index), bounds, order, after, limit)
            }
        };
        let bounds = match after {
            Some(cursor) => bounds.after(&place_of(&scope, &cursor)?, order),
            None => bounds,
        };
        Ok(Self { scope, bounds, order, limit: limit.max(1) })
    }
}

/// Where in its list a cursor stands: in a partition's list the value is empty.
fn place_of(scope: &Scope, cursor: &Cursor) -> Result<String, PortError> {
    let [value, partition, sort] = cursor.parts()?;
    Ok(match scope {
        Scope::Partition(_) => sort,
        Scope::Index(_) => place(&value, &Key { partition, sort }),
    })
}

impl DynamoStore {
    /// Reads one page: one record more than it holds tells whether there is another.
    pub(super) async fn page(&self, query: Query) -> Result<Page, PortError> {
        let listing = Listing::of(query)?;
        let wanted = listing.limit.saturating_add(1);
        let mut found = match &listing.scope {
            Scope::Partition(partition) => self.list_partition(partition, &listing, wanted).await?,
            Scope::Index(index) => self.list_index(*index, &listing, wanted).await?,
        };
        let more = found.len() > listing.limit;
        found.truncate(listing.limit);
        let next = found
            .last()
            .filter(|_| more)
            .map(|(value, item)| Cursor::of([value, &item.key.partition, &item.key.sort]));
        Ok(Page { items: found.into_iter().map(|(_, item)| item).collect(), next })
    }

    async fn list_partition(
        &self,
        partition: &str,
        listing: &Listing,
        wanted: usize,
    ) -> Result<Vec<(String, Item)>, PortError> {
        let partition = self.layout.partition(partition);
        let run = Run { index: None, partition, bounds: &listing.bounds, order: listing.order };
        let items = self.read_run(&run, wanted).await?;
        items.iter().map(|attributes| Ok((String::new(), self.layout.read(attributes)?))).collect()
    }

    async fn list_index(
        &self,
        index: Index,
        listing: &Listing,
        wanted: usize,
    ) -> Result<Vec<(String, Item)>, PortError> {
        let mut bounds = listing.bounds.clone();
        let mut found = Vec::new();
        loop {
            let missing = wanted - found.len();
            let entries = self.entries(index, &bounds, listing.order, missing).await?;
            let is_last = entries.len() < missing;
            if let Some(last) = entries.last() {
                bounds = bounds.after(&last.place, listing.order);
            }
            found.extend(self.records(index, entries).await?);
            if is_last || found.len() >= wanted {
                return Ok(found);
            }
        }
    }

    /// The first entries within bounds, of all shards.
    async fn entries(
        &self,
        index: Index,
        bounds: &Bounds,
        order: Order,
        most: usize,
    ) -> Result<Vec<Entry>, PortError> {
        let table_index = table::of(index);
        let shards = self.layout.shards(table_index).into_iter().map(|partition| async move {
            self.read_run(&Run { index: Some(table_index), partition, bounds, order }, most).await
        });
        let mut entries = Vec::new();
        for attributes in try_join_all(shards).await?.iter().flatten() {
            let place = text(attributes, table_index.sort)?.to_owned();
            entries.push(Entry { place, key: self.layout.read_key(attributes)? });
        }
        entries.sort_unstable_by(|one, other| match order {
            Order::Ascending => one.place.cmp(&other.place),
            Order::Descending => other.place.cmp(&one.place),
        });
        entries.truncate(most);
        Ok(entries)
    }

    /// The records of entries, in their order, with the entries' values; without those that changed meanwhile.
    async fn records(&self, index: Index, entries: Vec<Entry>) -> Result<Vec<(String, Item)>, PortError> {
        let mut records = HashMap::new();
        for keys in entries.chunks(MOST_KEYS) {
            for item in self.read_many(keys.iter().map(|entry| self.layout.key(&entry.key)).collect()).await?
            {
                let item = self.layout.read(&item)?;
                records.insert(item.key.clone(), item);
            }
        }
        let current = |entry: Entry| {
            let item = records.remove(&entry.key)?;
            let value = item.indexes.iter().find(|own| own.index == index)?.value.clone();
            (place(&value, &entry.key) == entry.place).then_some((value, item))
        };
        Ok(entries.into_iter().filter_map(current).collect())
    }

    /// The first items of a partition within bounds, over as many answers as it takes.
    async fn read_run(&self, run: &Run<'_>, most: usize) -> Result<Vec<Attributes>, PortError> {
        let mut items = Vec::new();
        if run.bounds.is_empty() {
            return Ok(items);
        }
        let sort = run.index.map_or(SORT, |index| index.sort);
        let mut start = None;
        loop {
            // The place that the list goes on after may be among them, and is left out.
            let missing = most.saturating_sub(items.len()).saturating_add(1);
            let answer = self.ask(run, missing, start).await?;
            let admitted = |item: &Attributes| text(item, sort).is_ok_and(|text| run.bounds.admits(text));
            items.extend(answer.items.unwrap_or_default().into_iter().filter(admitted));
            start = answer.last_evaluated_key;
            if start.is_none() || items.len() >= most {
                items.truncate(most);
                return Ok(items);
            }
        }
    }

    async fn ask(
        &self,
        run: &Run<'_>,
        most: usize,
        start: Option<Attributes>,
    ) -> Result<aws_sdk_dynamodb::operation::query::QueryOutput, PortError> {
        let (partition, sort) = run.index.map_or((PARTITION, SORT), |index| (index.partition, index.sort));
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let request = self
            .client
            .query()
            .table_name(&self.table)
            .set_index_name(run.index.map(|index| index.name.to_owned()))
            .consistent_read(run.index.is_none())
            .expression_attribute_names("#partition", partition)
            .expression_attribute_names("#sort", sort)
            .expression_attribute_values(":partition", text(&run.partition))
            .expression_attribute_values(":to", text(&run.bounds.to))
            .scan_index_forward(run.order == Order::Ascending)
            .limit(i32::try_from(most).unwrap_or(i32::MAX))
            .set_exclusive_start_key(start);
        let request = if run.bounds.from.is_empty() {
            request.key_condition_expression("#partition = :partition AND #sort <= :to")
        } else {
            request
                .key_condition_expression("#partition = :partition AND #sort BETWEEN :from AND :to")
                .expression_attribute_values(":from", text(&run.bounds.from))
        };
        let list = run.index.map_or("a partition", |index| index.name);
        request.send().await.map_err(|error| port_error(format!("listing records of {list}"), error))
    }

    /// Items by key, at most 100, in any order; those that are gone are left out.
    async fn read_many(&self, keys: Vec<Attributes>) -> Result<Vec<Attributes>, PortError> {
        let mut items = Vec::new();
        let mut missing = keys;
        for _ in 0..MOST_REQUESTS {
            if missing.is_empty() {
                return Ok(items);
            }
            let keys = KeysAndAttributes::builder().set_keys(Some(missing)).build();
            let keys =
                keys.map_err(|error| PortError::permanent("keys could not be built").because(error))?;
            let request = self.client.batch_get_item().request_items(&self.table, keys);
            let answer =
                request.send().await.map_err(|error| port_error("reading records of a list", error))?;
            items.extend(answer.responses.into_iter().flat_map(HashMap::into_values).flatten());
            missing = answer
                .unprocessed_keys
                .into_iter()
                .flat_map(HashMap::into_values)
                .flat_map(|left| left.keys)
                .collect();
        }
        Err(PortError::transient("reading records of a list: the table is throttled"))
    }
}
