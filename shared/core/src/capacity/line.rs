//! The line of those who wait, and whose turn it is.

use super::{Caps, Full, Occupied, Pool, Slot};
use crate::id::{AttemptId, Phase};

/// A place in the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Orders the line; see [`next_tag`].
    pub tag: u64,
    /// Who waits.
    pub attempt: AttemptId,
    /// What it needs a slot of.
    pub pools: Vec<Pool>,
}

/// A place whose turn it is, with the slots it takes.
pub type Ready<'a> = (&'a Place, Vec<Slot>);

impl Place {
    /// Orders the line as text: by tag, applies before plans, runs that were made earlier before later ones.
    pub fn order(&self) -> String {
        let phase = match self.attempt.phase {
            Phase::Apply => 0,
            Phase::Plan => 1,
        };
        format!("{:015}#{phase}#{}", self.tag, self.attempt)
    }
}

/// The tag of a new place: one above the last of its source that waits, and above where the line has come to. That is told by
/// who waits first (`first` is its tag) and by who holds slots, so no count has to be kept.
pub fn next_tag(occupied: &Occupied, first: Option<u64>, last_of_source: Option<u64>) -> u64 {
    let come_to = first.map_or(0, |first| first.saturating_sub(1)).max(occupied.tag);
    last_of_source.map_or(come_to, |last| last.max(come_to)).saturating_add(1)
}

/// Those of a line whose turn it is, first of all the first. Who finds a pool full is passed over: those behind need not wait for
/// it.
pub fn ready<'a>(caps: &Caps, occupied: &Occupied, line: &'a [Place]) -> Vec<Ready<'a>> {
    let mut occupied = occupied.clone();
    line.iter().filter_map(|place| Some((place, occupied.take(caps, place)?))).collect()
}

/// The slots that an attempt takes if it may start now; else why not. `ahead` is the line before it, in order.
pub fn may_start(
    caps: &Caps,
    occupied: &Occupied,
    ahead: &[Place],
    place: &Place,
) -> Result<Vec<Slot>, Full> {
    if let Some(full) = occupied.full(caps, &place.pools) {
        return Err(full);
    }
    let mut left = occupied.clone();
    for other in ahead {
        left.take(caps, other);
    }
    left.take(caps, place).ok_or(Full::OthersFirst)
}

#[cfg(test)]
mod tests {
    use ulid::Ulid;

    use super::*;
    use crate::capacity::Label;
    use crate::id::RunId;

    fn prod() -> Pool {
        Pool::Label(Label { key: "env".to_owned(), value: "prod".to_owned() })
    }

    fn caps() -> Caps {
        let Pool::Label(label) = prod() else { return Caps::default() };
        Caps { installation: Some(2), labels: [(label, 1)].into() }
    }

    fn place(tag: u64, run: u128, pools: &[Pool]) -> Place {
        let run = RunId(Ulid::from_parts(1, run));
        Place { tag, attempt: AttemptId { run, phase: Phase::Plan, number: 1 }, pools: pools.to_vec() }
    }

    fn held(pools: &[Pool]) -> Occupied {
        let mut occupied = Occupied::default();
        for pool in pools {
            occupied.hold(Slot { pool: pool.clone(), number: 1 }, 0);
        }
        occupied
    }

    #[test]
    fn who_finds_its_label_full_holds_up_nobody_behind() {
        let line = [
            place(1, 1, &[Pool::Installation, prod()]),
            place(2, 2, &[Pool::Installation]),
            place(3, 3, &[Pool::Installation]),
        ];
        let occupied = held(&[prod(), Pool::Installation]);
        let turns = ready(&caps(), &occupied, &line);
        let turns: Vec<u64> = turns.iter().map(|(place, _)| place.tag).collect();
        assert_eq!(turns, [2], "one slot of the installation is free, and none of the label");
        let last = place(3, 3, &[Pool::Installation]);
        assert_eq!(may_start(&caps(), &occupied, &line[..2], &last), Err(Full::OthersFirst));
        assert!(may_start(&caps(), &occupied, &line[..1], &last).is_ok());
    }

    #[test]
    fn room_is_kept_for_those_who_came_first() {
        let line = [place(1, 1, &[Pool::Installation]), place(2, 2, &[Pool::Installation])];
        let last = place(3, 3, &[Pool::Installation]);
        let none = Occupied::default();
        assert_eq!(may_start(&caps(), &none, &line, &last), Err(Full::OthersFirst));
        assert_eq!(may_start(&caps(), &none, &line[..1], &last).map(|slots| slots.len()), Ok(1));
    }

    /// The sources in the order in which they get one slot, each of which wants so many tasks, all of the first before the
    /// second asks.
    fn served(wants: &[(char, usize)]) -> String {
        let (mut line, occupied, mut run) = (Vec::<(char, Place)>::new(), Occupied::default(), 0);
        for (source, count) in wants {
            for _ in 0..*count {
                run += 1;
                let first = line.iter().map(|(_, place)| place.tag).min();
                let own = line.iter().filter(|(of, _)| of == source).map(|(_, place)| place.tag).max();
                line.push((*source, place(next_tag(&occupied, first, own), run, &[Pool::Installation])));
            }
        }
        line.sort_by_key(|(_, place)| place.order());
        line.iter().map(|(source, _)| *source).collect()
    }

    #[test]
    fn sources_take_turns_however_many_tasks_each_wants() {
        assert_eq!(served(&[('a', 6), ('b', 1), ('c', 2)]), "abcacaaaa");
    }

    #[test]
    fn who_comes_later_does_not_pass_where_the_line_has_come_to() {
        let mut occupied = Occupied::default();
        occupied.hold(Slot { pool: Pool::Installation, number: 1 }, 7);
        assert_eq!(next_tag(&occupied, None, None), 8);
        assert_eq!(next_tag(&occupied, Some(20), None), 20, "beside the first who waits");
        assert_eq!(next_tag(&occupied, Some(5), Some(30)), 31, "behind the source's own");
    }

    #[test]
    fn applies_come_before_plans_of_the_same_tag() {
        let plan = place(3, 1, &[]);
        let mut apply = place(3, 2, &[]);
        apply.attempt.phase = Phase::Apply;
        assert!(apply.order() < plan.order());
        assert!(plan.order() < place(10, 0, &[]).order(), "tags are numbers");
    }

    #[test]
    fn those_who_come_together_take_different_slots() {
        let caps = Caps { installation: Some(50), ..Caps::default() };
        let first = |run| {
            let place = place(1, run, &[Pool::Installation]);
            may_start(&caps, &Occupied::default(), &[], &place).unwrap().remove(0).number
        };
        let taken: std::collections::BTreeSet<u32> = (0..20).map(first).collect();
        assert!(taken.len() > 15, "{taken:?}");
    }
}
