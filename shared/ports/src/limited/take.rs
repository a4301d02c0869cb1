//! Takes slots for an attempt, or a place in the line.

use yuba_core::attempt::{Attempt, AttemptState};
use yuba_core::capacity::{Full, Hold, Occupied, Place, Pool, Slot, SlotRecord, Ticket, may_start, next_tag};
use yuba_core::id::AttemptId;
use yuba_core::record::{Key, Record};
use yuba_core::time::Span;

use super::Limited;
use super::line::MOST_PAGES;
use super::release::deletes_of;
use crate::error::PortError;
use crate::records::{Versioned, load};
use crate::store::{Committed, Write};

/// When who has a place in the line is to ask again: it is woken before, and swept for once a minute.
const PLACED: Span = Span::minutes(10);
/// When to ask again where so many asked at once that there was not even a place to be had.
const CROWDED: Span = Span::seconds(5);
/// How often a lost race is run again.
const MOST_RACES: usize = 20;

/// Whether a task may be started.
pub(super) enum Room {
    /// It may.
    Held,
    /// Not now.
    None {
        /// When to ask again.
        wait: Span,
        /// For people.
        why: String,
    },
}

impl Limited {
    /// Takes what an attempt needs, once however often it is asked for. Nothing is needed for an attempt that nobody may claim
    /// any more, or whose task runs already.
    pub(super) async fn take(&self, attempt: AttemptId) -> Result<Room, PortError> {
        for _ in 0..MOST_RACES {
            if let Some(room) = self.try_take(attempt).await? {
                return Ok(room);
            }
        }
        let why = "waits for room: too many ask for it at once".to_owned();
        Ok(Room::None { wait: CROWDED, why })
    }

    /// One round; `None` where it is to be looked at again.
    async fn try_take(&self, attempt: AttemptId) -> Result<Option<Room>, PortError> {
        let Some(record) = load::<Attempt>(&*self.store, &Key::attempt(attempt)).await? else {
            return Ok(Some(Room::Held));
        };
        let pools = self.caps.pools(&record.job.spec.labels);
        let needs = record.state == AttemptState::Issued && !pools.is_empty();
        if !needs || self.store.get(&Hold::key_of(attempt)).await?.is_some() {
            return Ok(Some(Room::Held));
        }
        let ticket = load::<Ticket>(&*self.store, &Ticket::key_of(attempt)).await?;
        let occupied = self.occupied().await?;
        let place = match &ticket {
            // Caps may have changed since the ticket was written.
            Some(ticket) => Place { pools, ..ticket.place() },
            None => self.new_place(&record, pools, &occupied).await?,
        };
        let ticket = ticket.map(Versioned::into_value);
        let committed = match (self.turn(&occupied, &place).await?, ticket) {
            (Ok(slots), ticket) => self.hold(&record, (place.tag, slots), ticket).await?,
            (Err(full), Some(_)) => {
                return Ok(Some(Room::None { wait: PLACED, why: full.to_string() }));
            }
            (Err(_), None) => {
                self.enqueue(&record, place).await?;
                // Room may have come to be before the ticket could be seen.
                return Ok(None);
            }
        };
        Ok((committed == Committed::Done).then_some(Room::Held))
    }

    async fn new_place(
        &self,
        attempt: &Attempt,
        pools: Vec<Pool>,
        occupied: &Occupied,
    ) -> Result<Place, PortError> {
        let first = self.first_tag().await?;
        let last = match first {
            Some(_) => self.last_tag(&attempt.job.spec.source).await?,
            None => None,
        };
        Ok(Place { tag: next_tag(occupied, first, last), attempt: attempt.id, pools })
    }

    /// The slots that a place may take now, or why it has to wait. The line is read as far as there is room for those in it.
    async fn turn(&self, occupied: &Occupied, place: &Place) -> Result<Result<Vec<Slot>, Full>, PortError> {
        let (order, mut ahead, mut after) = (place.order(), Vec::new(), None);
        if let Some(full) = occupied.full(&self.caps, &place.pools) {
            return Ok(Err(full));
        }
        for _ in 0..MOST_PAGES {
            let (tickets, next) = self.tickets(after).await?;
            let before = tickets.iter().map(|record| record.ticket.place());
            let before: Vec<Place> = before.take_while(|other| other.order() < order).collect();
            let is_passed = before.len() < tickets.len() || next.is_none();
            ahead.extend(before);
            let turn = may_start(&self.caps, occupied, &ahead, place);
            if is_passed || turn.is_err() {
                return Ok(turn);
            }
            after = next;
        }
        Ok(may_start(&self.caps, occupied, &ahead, place))
    }

    /// Slots and hold in one commit, as long as the attempt may still be claimed; the ticket goes.
    async fn hold(
        &self,
        attempt: &Versioned<Attempt>,
        (tag, slots): (u64, Vec<Slot>),
        ticket: Option<Ticket>,
    ) -> Result<Committed, PortError> {
        let record =
            |slot: &Slot| Versioned::new(SlotRecord { slot: slot.clone(), attempt: attempt.id, tag }).put();
        let mut writes = slots.iter().map(record).collect::<Result<Vec<_>, _>>()?;
        let since = self.clock.now();
        let hold = Hold { attempt: attempt.id, stack: attempt.stack, slots, since };
        writes.push(Versioned::new(hold).put()?);
        writes.push(Write::Check { key: attempt.key(), expected: attempt.expected() });
        writes.extend(ticket.iter().flat_map(deletes_of));
        self.store.commit(writes).await
    }

    async fn enqueue(&self, attempt: &Versioned<Attempt>, place: Place) -> Result<Committed, PortError> {
        let ticket = Ticket {
            attempt: attempt.id,
            stack: attempt.stack,
            source: attempt.job.spec.source.clone(),
            tag: place.tag,
            pools: place.pools,
            since: self.clock.now(),
        };
        let writes = vec![
            Versioned::new(ticket.turn()).put()?,
            Versioned::new(ticket.in_line()).put()?,
            Versioned::new(ticket).put()?,
            Write::Check { key: attempt.key(), expected: attempt.expected() },
        ];
        self.store.commit(writes).await
    }
}
