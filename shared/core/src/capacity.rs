//! Caps: how many tasks there may be at once, in the installation and per label, and whose turn it is where more want one.
//!
//! Room is leased by slots, numbered from 1 to the cap: who holds a slot is written down where nobody can write a second
//! time, so a cap holds whatever races. Who finds none gets a place in the line. Places are given by start-time fair
//! queueing, a source being a flow: each place has a tag, one above the last of its source, and never below where the line
//! has come to. So a source that wants ten thousand tasks at once takes turns with one that wants a single one.
//! (Goyal, Vin, Cheng: "Start-time Fair Queueing", SIGCOMM 1996.)

mod line;
mod read;
mod records;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::id::AttemptId;

pub use line::{Place, Ready, may_start, next_tag, ready};
pub use read::InvalidCaps;
pub use records::{Hold, PlaceRecord, SlotRecord, TICKETS, Ticket, Turn, turns_partition};

/// The most tasks there may be at once. Without any, nothing is counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caps {
    /// In the whole installation.
    pub installation: Option<u32>,
    /// Of stacks that carry a label.
    pub labels: BTreeMap<Label, u32>,
}

/// A label with its value, as stacks carry it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
}

/// What a cap counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pool {
    /// All tasks of the installation.
    Installation,
    /// Those of stacks that carry a label.
    Label(Label),
}

/// One of the tasks that a cap allows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot {
    /// Whose.
    pub pool: Pool,
    /// From 1 to the cap.
    pub number: u32,
}

/// The slots that are held.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occupied {
    numbers: BTreeMap<Pool, BTreeSet<u32>>,
    tag: u64,
}

/// Why an attempt waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Full {
    /// A cap is reached.
    Cap(Pool, u32),
    /// There is room, and others are before it.
    OthersFirst,
}

impl Caps {
    /// Whether nothing is capped.
    pub fn is_empty(&self) -> bool {
        self.installation.is_none() && self.labels.is_empty()
    }

    /// What a task of a stack with these labels needs a slot of.
    pub fn pools(&self, labels: &BTreeMap<String, String>) -> Vec<Pool> {
        let carried = |label: &&Label| labels.get(&label.key) == Some(&label.value);
        let labels = self.labels.keys().filter(carried).cloned().map(Pool::Label);
        self.installation.map(|_| Pool::Installation).into_iter().chain(labels).collect()
    }

    /// How many slots a pool has; `None` where it is capped no more.
    pub fn most(&self, pool: &Pool) -> Option<u32> {
        match pool {
            Pool::Installation => self.installation,
            Pool::Label(label) => self.labels.get(label).copied(),
        }
    }
}

impl Occupied {
    /// Counts a slot as held; `tag` is that of its holder's place.
    pub fn hold(&mut self, slot: Slot, tag: u64) {
        self.numbers.entry(slot.pool).or_default().insert(slot.number);
        self.tag = self.tag.max(tag);
    }

    /// The slots of a pool that may be taken. Where a cap was lowered, none until as many were left as it is above.
    fn free(&self, caps: &Caps, pool: &Pool) -> Vec<u32> {
        let none = BTreeSet::new();
        let held = self.numbers.get(pool).unwrap_or(&none);
        let most = caps.most(pool).unwrap_or(u32::MAX);
        let room = usize::try_from(most).unwrap_or(usize::MAX).saturating_sub(held.len());
        // As many as are held, and one more, hold a free one in any case; more only spread those who come together.
        let looked = u32::try_from(held.len()).unwrap_or(u32::MAX).saturating_add(SPREAD).min(most);
        (1..=looked).filter(|number| !held.contains(number)).take(room).collect()
    }

    /// The first of the pools that is full.
    pub fn full(&self, caps: &Caps, pools: &[Pool]) -> Option<Full> {
        let full = pools.iter().find(|pool| self.free(caps, pool).is_empty())?;
        Some(Full::Cap(full.clone(), caps.most(full).unwrap_or_default()))
    }

    /// Takes a slot of each pool, or of none where one is full. Who comes at the same moment as others takes other numbers
    /// than they, mostly, so that they do not get into each other's way.
    fn take(&mut self, caps: &Caps, place: &Place) -> Option<Vec<Slot>> {
        let mut slots = Vec::new();
        // What a cap no longer counts needs no slot.
        for pool in place.pools.iter().filter(|pool| caps.most(pool).is_some()) {
            let free = self.free(caps, pool);
            let index = spread(place.attempt).checked_rem(free.len())?;
            slots.push(Slot { pool: pool.clone(), number: *free.get(index)? });
        }
        for slot in &slots {
            self.hold(slot.clone(), place.tag);
        }
        Some(slots)
    }
}

/// How many free numbers are looked at.
const SPREAD: u32 = 64;

/// A number that differs between attempts that start at the same moment.
fn spread(attempt: AttemptId) -> usize {
    let bits = attempt.run.0.0 ^ (attempt.run.0.0 >> 64) ^ u128::from(attempt.number);
    usize::try_from(bits & 0xFFFF).unwrap_or_default()
}

impl fmt::Display for Label {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.key, self.value)
    }
}

impl fmt::Display for Full {
    /// For people: why the task is not started yet.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("waits for room: ")?;
        match self {
            Self::Cap(Pool::Installation, most) => {
                write!(formatter, "the installation's cap of {most} at once is reached")
            }
            Self::Cap(Pool::Label(label), most) => {
                write!(formatter, "the cap of {most} at once for {label} is reached")
            }
            Self::OthersFirst => formatter.write_str("others came first"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(text: &str) -> Label {
        let (key, value) = text.split_once('=').unwrap();
        Label { key: key.to_owned(), value: value.to_owned() }
    }

    #[test]
    fn a_stack_needs_a_slot_of_each_capped_label_that_it_carries() {
        let labels = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
        };
        let mut caps = Caps { installation: None, labels: [(label("env=prod"), 5)].into() };
        assert_eq!(caps.pools(&labels(&[("env", "dev"), ("team", "prod")])), []);
        assert_eq!(caps.pools(&labels(&[("env", "prod")])), [Pool::Label(label("env=prod"))]);
        caps.installation = Some(9);
        assert_eq!(caps.pools(&labels(&[])), [Pool::Installation]);
        assert_eq!(caps.pools(&labels(&[("env", "prod")])).len(), 2);
        assert!(Caps::default().is_empty() && !caps.is_empty());
    }

    #[test]
    fn no_slot_is_free_above_a_cap_or_where_a_lowered_one_is_exceeded() {
        let mut caps = Caps { installation: Some(4), ..Caps::default() };
        let mut occupied = Occupied::default();
        assert_eq!(occupied.free(&caps, &Pool::Installation), [1, 2, 3, 4]);
        for number in [2, 4] {
            occupied.hold(Slot { pool: Pool::Installation, number }, 0);
        }
        assert_eq!(occupied.free(&caps, &Pool::Installation), [1, 3]);
        caps.installation = Some(3);
        assert_eq!(occupied.free(&caps, &Pool::Installation), [1], "two of three are held");
        caps.installation = Some(2);
        assert_eq!(occupied.free(&caps, &Pool::Installation), [0; 0], "4 and 2 are as many as there may be");
    }

    #[test]
    fn a_wait_names_its_cap() {
        let caps = Caps { installation: Some(1), labels: [(label("env=prod"), 2)].into() };
        let pools = [Pool::Installation, Pool::Label(label("env=prod"))];
        let mut occupied = Occupied::default();
        assert_eq!(occupied.full(&caps, &pools), None);
        for number in [1, 2] {
            occupied.hold(Slot { pool: Pool::Label(label("env=prod")), number }, 0);
        }
        let said = |occupied: &Occupied| occupied.full(&caps, &pools).unwrap().to_string();
        insta::assert_snapshot!(said(&occupied), @"waits for room: the cap of 2 at once for env=prod is reached");
        occupied.hold(Slot { pool: Pool::Installation, number: 1 }, 0);
        insta::assert_snapshot!(said(&occupied), @"waits for room: the installation's cap of 1 at once is reached");
        insta::assert_snapshot!(Full::OthersFirst, @"waits for room: others came first");
    }
}
