//! Lists of records. A place in a list is a triple (index value, partition, sort); in a partition's list the value is
//! empty. Pages run from place to place, so that entries with equal values are neither lost nor repeated.

use rusqlite::{Connection, Row, params};
use yuba_ports::{Cursor, Item, Order, Page, PortError, Query};

use super::rows;

/// Greater than every text that is stored: none holds Unicode's last code point, which is no character.
const END: &str = "\u{10ffff}";

/// A list to be read from the tables: texts at or after `from`, and before `below`.
pub(super) struct Listing {
    scope: Scope,
    from: String,
    below: String,
    order: Order,
    after: Option<[String; 3]>,
    limit: usize,
}

enum Scope {
    Partition(String),
    Index(&'static str),
}

impl Listing {
    /// The list that a query asks for; a cursor that is none is refused.
    pub(super) fn of(query: Query) -> Result<Self, PortError> {
        let (scope, from, up_to, order, after, limit) = match query {
            Query::Partition { partition, prefix, order, after, limit } => {
                (Scope::Partition(partition), prefix, None, order, after, limit)
            }
            Query::Index { index, prefix, up_to, order, after, limit } => {
                (Scope::Index(index.as_str()), prefix, up_to, order, after, limit)
            }
        };
        let end = format!("{from}{END}");
        let below = match up_to {
            Some(most) => end.min(following(&most)),
            None => end,
        };
        let after = after.map(|cursor| cursor.parts()).transpose()?;
        Ok(Self { scope, from, below, order, after, limit: limit.max(1) }.narrowed())
    }

    /// The same list, its bounds moved to where it goes on, so that the tables are entered there.
    fn narrowed(mut self) -> Self {
        let Some([value, _, sort]) = &self.after else { return self };
        match (&self.scope, self.order) {
            (Scope::Partition(_), Order::Ascending) => self.from = following(sort),
            (Scope::Partition(_), Order::Descending) => self.below.clone_from(sort),
            (Scope::Index(_), Order::Ascending) => self.from.clone_from(value),
            (Scope::Index(_), Order::Descending) => self.below = self.below.min(following(value)),
        }
        self
    }

    /// Reads one page of it.
    pub(super) fn page(&self, connection: &Connection) -> rusqlite::Result<Page> {
        let mut rows = match &self.scope {
            Scope::Partition(partition) => self.partition(connection, partition)?,
            Scope::Index(index) => self.index(connection, index)?,
        };
        let more = rows.len() > self.limit;
        rows.truncate(self.limit);
        let next = rows
            .last()
            .filter(|_| more)
            .map(|(value, item)| Cursor::of([value, &item.key.partition, &item.key.sort]));
        Ok(Page { items: rows.into_iter().map(|(_, item)| item).collect(), next })
    }

    fn partition(&self, connection: &Connection, partition: &str) -> rusqlite::Result<Vec<(String, Item)>> {
        let sql = format!(
            "SELECT {}, '' FROM records WHERE partition = ?1 AND sort >= ?2 AND sort < ?3
             ORDER BY sort {} LIMIT ?4",
            rows::COLUMNS,
            self.direction()
        );
        let mut statement = connection.prepare_cached(&sql)?;
        statement.query_map(params![partition, self.from, self.below, self.one_more()], placed)?.collect()
    }

    fn index(&self, connection: &Connection, index: &str) -> rusqlite::Result<Vec<(String, Item)>> {
        let (direction, beyond, outside) = match self.order {
            Order::Ascending => ("ASC", ">", ""),
            Order::Descending => ("DESC", "<", END),
        };
        let sql = format!(
            "SELECT {}, entries.value FROM entries JOIN records USING (partition, sort)
             WHERE index_name = ?1 AND value >= ?2 AND value < ?3
               AND (value, partition, sort) {beyond} (?4, ?5, ?6)
             ORDER BY value {direction}, partition {direction}, sort {direction} LIMIT ?7",
            rows::COLUMNS
        );
        let outside = [outside; 3].map(str::to_owned);
        let [value, partition, sort] = self.after.as_ref().unwrap_or(&outside);
        let bounds = params![index, self.from, self.below, value, partition, sort, self.one_more()];
        connection.prepare_cached(&sql)?.query_map(bounds, placed)?.collect()
    }

    fn direction(&self) -> &'static str {
        match self.order {
            Order::Ascending => "ASC",
            Order::Descending => "DESC",
        }
    }

    /// One record more than a page holds tells whether there is another page.
    fn one_more(&self) -> i64 {
        i64::try_from(self.limit).unwrap_or(i64::MAX).saturating_add(1)
    }
}

/// The least text that is greater.
fn following(text: &str) -> String {
    format!("{text}\0")
}

fn placed(row: &Row<'_>) -> rusqlite::Result<(String, Item)> {
    Ok((row.get(5)?, rows::item(row)?))
}
