//! Who holds which slot and who waits, as it is stored.
//!
//! A hold and its slots are written and deleted together, and so are a ticket, its place and its turn: each of the three is the
//! same ticket, found in another way.

use serde::{Deserialize, Serialize};

use super::{Place, Pool, Slot};
use crate::id::{AttemptId, SourceName, StackId};
use crate::record::{Key, Record};
use crate::time::Timestamp;

/// The partition of what is held.
const SLOTS: &str = "slots";
/// The partition of the line; sort keys are in its order.
pub const TICKETS: &str = "tickets";

/// The partition of a source's turns, by tag.
pub fn turns_partition(source: &SourceName) -> String {
    format!("turns#{source}")
}

/// That a slot is held. Written where none is, so once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotRecord {
    /// The slot.
    pub slot: Slot,
    /// Who holds it.
    pub attempt: AttemptId,
    /// The tag of its holder's place.
    pub tag: u64,
}

/// All that an attempt holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The attempt.
    pub attempt: AttemptId,
    /// Its stack.
    pub stack: StackId,
    /// Its slots.
    pub slots: Vec<Slot>,
    /// Since when.
    pub since: Timestamp,
}

/// That an attempt waits, found by the attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// The attempt.
    pub attempt: AttemptId,
    /// Its stack.
    pub stack: StackId,
    /// The source of its code: whose turn it takes.
    pub source: SourceName,
    /// Orders the line.
    pub tag: u64,
    /// What it needs a slot of.
    pub pools: Vec<Pool>,
    /// Since when.
    pub since: Timestamp,
}

/// The same ticket, found in the order of the line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceRecord {
    /// The ticket.
    pub ticket: Ticket,
}

/// The same ticket, found by its source. Written where none is, so a source has a tag once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The source.
    pub source: SourceName,
    /// The ticket's tag.
    pub tag: u64,
}

impl Hold {
    /// Where an attempt's hold lies.
    pub fn key_of(attempt: AttemptId) -> Key {
        Key::new(SLOTS, format!("hold#{attempt}"))
    }
}

impl SlotRecord {
    /// Where a slot lies.
    pub fn key_of(slot: &Slot) -> Key {
        Key::new(SLOTS, format!("{}{slot}", Self::PREFIX))
    }

    /// The partition of slots.
    pub const PARTITION: &str = SLOTS;
    /// What sort keys of slots start with.
    pub const PREFIX: &str = "slot#";
}

impl Ticket {
    /// Where an attempt's ticket lies.
    pub fn key_of(attempt: AttemptId) -> Key {
        Key::new(SLOTS, format!("ticket#{attempt}"))
    }

    /// Its place in the line.
    pub fn place(&self) -> Place {
        Place { tag: self.tag, attempt: self.attempt, pools: self.pools.clone() }
    }

    /// The same, in the order of the line.
    pub fn in_line(&self) -> PlaceRecord {
        PlaceRecord { ticket: self.clone() }
    }

    /// Its turn among those of its source.
    pub fn turn(&self) -> Turn {
        Turn { source: self.source.clone(), tag: self.tag }
    }
}

impl Record for SlotRecord {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Self::key_of(&self.slot)
    }
}

impl Record for Hold {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Self::key_of(self.attempt)
    }
}

impl Record for Ticket {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Self::key_of(self.attempt)
    }
}

impl Record for PlaceRecord {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::new(TICKETS, self.ticket.place().order())
    }
}

impl Record for Turn {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::new(turns_partition(&self.source), format!("{:015}", self.tag))
    }
}
