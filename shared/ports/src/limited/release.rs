//! Frees slots, and wakes those whose turn has come.

use std::collections::BTreeSet;

use yuba_core::attempt::{Attempt, AttemptState};
use yuba_core::capacity::{Hold, Place, SlotRecord, Ticket, ready};
use yuba_core::id::AttemptId;
use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::{Key, Record};

use super::Limited;
use super::line::MOST_PAGES;
use crate::error::PortError;
use crate::records::load;
use crate::store::{Committed, Expected, Write};

/// How often the line is looked at again after tickets of attempts that ended were found at its head.
const MOST_ROUNDS: usize = 10;

impl Limited {
    /// Frees what an attempt holds. Says whether it held anything.
    pub(super) async fn free(&self, attempt: AttemptId) -> Result<bool, PortError> {
        let key = Hold::key_of(attempt);
        let Some(hold) = load::<Hold>(&*self.store, &key).await? else { return Ok(false) };
        let slot = |slot| Write::Delete { key: SlotRecord::key_of(slot), expected: Expected::Any };
        let slots = hold.slots.iter().map(slot);
        let writes = slots.chain([Write::Delete { key, expected: hold.expected() }]).collect();
        Ok(self.store.commit(writes).await? == Committed::Done)
    }

    /// Frees what is held by attempts that have ended, or that no record tells of.
    pub(super) async fn free_ended(&self) -> Result<(), PortError> {
        let holders: BTreeSet<AttemptId> = self.slots().await?.into_iter().map(|held| held.attempt).collect();
        for attempt in holders {
            if !self.is_out(attempt).await? && self.free(attempt).await? {
                tracing::info!(%attempt, "room was still held by an attempt that has ended");
            }
        }
        Ok(())
    }

    /// Wakes the stacks of those whose turn it is; tickets of attempts that ended go, and others are woken instead.
    pub(super) async fn wake_first(&self) -> Result<(), PortError> {
        for _ in 0..MOST_ROUNDS {
            let (waiting, ended) = self.sorted_out(self.first().await?).await?;
            if !waiting.is_empty() {
                self.queue.send(waiting.iter().map(|ticket| self.room(ticket)).collect()).await?;
            }
            for ticket in &ended {
                self.store.commit(deletes_of(ticket).into()).await?;
            }
            if ended.is_empty() {
                break;
            }
        }
        Ok(())
    }

    /// Those of attempts that wait, and those of attempts that ended.
    async fn sorted_out(&self, tickets: Vec<Ticket>) -> Result<(Vec<Ticket>, Vec<Ticket>), PortError> {
        let (mut waiting, mut ended) = (Vec::new(), Vec::new());
        for ticket in tickets {
            let kind = if self.is_out(ticket.attempt).await? { &mut waiting } else { &mut ended };
            kind.push(ticket);
        }
        Ok((waiting, ended))
    }

    fn room(&self, ticket: &Ticket) -> Message {
        let cause = Cause::Room { attempt: ticket.attempt, at: self.clock.now() };
        Message::new(Wake::Stack(ticket.stack), cause)
    }

    /// The tickets whose turn it is: of the first page of the line that holds any.
    async fn first(&self) -> Result<Vec<Ticket>, PortError> {
        let (mut tickets, mut after) = self.tickets(None).await?;
        if tickets.is_empty() {
            return Ok(Vec::new());
        }
        let occupied = self.occupied().await?;
        for _ in 0..MOST_PAGES {
            let line: Vec<Place> = tickets.iter().map(|record| record.ticket.place()).collect();
            let turns: BTreeSet<AttemptId> =
                ready(&self.caps, &occupied, &line).into_iter().map(|(place, _)| place.attempt).collect();
            if !turns.is_empty() || after.is_none() {
                let tickets = tickets.into_iter().map(|record| record.ticket);
                return Ok(tickets.filter(|ticket| turns.contains(&ticket.attempt)).collect());
            }
            (tickets, after) = self.tickets(after).await?;
        }
        Ok(Vec::new())
    }

    /// Whether an attempt may still act, now or later.
    async fn is_out(&self, attempt: AttemptId) -> Result<bool, PortError> {
        let record = load::<Attempt>(&*self.store, &Key::attempt(attempt)).await?;
        Ok(record.is_some_and(|record| matches!(record.state, AttemptState::Issued | AttemptState::Claimed)))
    }
}

/// Deletes a ticket in each of the ways in which it is found.
pub(super) fn deletes_of(ticket: &Ticket) -> [Write; 3] {
    let keys = [ticket.key(), ticket.in_line().key(), ticket.turn().key()];
    keys.map(|key| Write::Delete { key, expected: Expected::Any })
}
