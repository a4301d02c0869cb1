//! Reads who holds slots and who waits.

use yuba_core::capacity::{Occupied, PlaceRecord, SlotRecord, TICKETS, Turn, turns_partition};
use yuba_core::id::SourceName;

use super::Limited;
use crate::error::PortError;
use crate::records::{Versioned, page};
use crate::store::{Cursor, Order, Query};

/// How many records are read at once.
const PAGE: usize = 100;

/// How many pages of the line are looked at: who stands behind so many that cannot start need not wait for them.
pub(super) const MOST_PAGES: usize = 5;

impl Limited {
    /// All slots that are held.
    pub(super) async fn slots(&self) -> Result<Vec<SlotRecord>, PortError> {
        let (mut slots, mut after) = (Vec::new(), None);
        loop {
            let query = Query::Partition {
                partition: SlotRecord::PARTITION.to_owned(),
                prefix: SlotRecord::PREFIX.to_owned(),
                order: Order::Ascending,
                after,
                limit: PAGE,
            };
            let (records, next) = page::<SlotRecord>(&*self.store, query).await?;
            slots.extend(records.into_iter().map(Versioned::into_value));
            match next {
                None => return Ok(slots),
                next => after = next,
            }
        }
    }

    /// The same, counted.
    pub(super) async fn occupied(&self) -> Result<Occupied, PortError> {
        let mut occupied = Occupied::default();
        for held in self.slots().await? {
            occupied.hold(held.slot, held.tag);
        }
        Ok(occupied)
    }

    /// A page of the line, and where it goes on.
    pub(super) async fn tickets(
        &self,
        after: Option<Cursor>,
    ) -> Result<(Vec<PlaceRecord>, Option<Cursor>), PortError> {
        let (partition, prefix, order) = (TICKETS.to_owned(), String::new(), Order::Ascending);
        let query = Query::Partition { partition, prefix, order, after, limit: PAGE };
        let (records, next) = page::<PlaceRecord>(&*self.store, query).await?;
        Ok((records.into_iter().map(Versioned::into_value).collect(), next))
    }

    /// The tag of who waits first.
    pub(super) async fn first_tag(&self) -> Result<Option<u64>, PortError> {
        let (partition, prefix, order) = (TICKETS.to_owned(), String::new(), Order::Ascending);
        let query = Query::Partition { partition, prefix, order, after: None, limit: 1 };
        let (records, _) = page::<PlaceRecord>(&*self.store, query).await?;
        Ok(records.first().map(|record| record.ticket.tag))
    }

    /// The tag of the last of a source that waits.
    pub(super) async fn last_tag(&self, source: &SourceName) -> Result<Option<u64>, PortError> {
        let (partition, prefix, order) = (turns_partition(source), String::new(), Order::Descending);
        let query = Query::Partition { partition, prefix, order, after: None, limit: 1 };
        let (records, _) = page::<Turn>(&*self.store, query).await?;
        Ok(records.first().map(|turn| turn.tag))
    }
}
