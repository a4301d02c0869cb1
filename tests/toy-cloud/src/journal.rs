//! `journal.ndjson`: what changed the cloud, so that tests can prove that nothing was applied twice and that no
//! two applies overlapped. It is only ever appended to, a line by one write.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::control::Verb;

/// One line of the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// UTC, milliseconds since 1970.
    pub at: u64,
    /// What happened to the call.
    pub event: Event,
    /// What the call does.
    pub verb: Verb,
    /// The type, such as `toy_bucket`; a data source's starts with `data.`.
    #[serde(rename = "type")]
    pub type_name: String,
    /// The resource's id.
    pub id: String,
    /// The provider's process; one per tofu command.
    pub pid: u32,
    /// Why a call failed, with `failed` and `fault`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// What happened to a call. Calls that only look have `fault` lines alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Event {
    /// It came in.
    Begin,
    /// It made its change.
    Done,
    /// It ended without having changed anything.
    Failed,
    /// `fail` of the control file struck; `failed` follows where the call would have changed something.
    Fault,
}

/// Resources that were made while they stood, or removed while they did not, one sentence each: empty when
/// nothing was applied twice. Edits by hand do not count.
pub fn repeats(entries: &[Entry]) -> Vec<String> {
    let mut standing = BTreeSet::new();
    let mut repeats = Vec::new();
    for entry in entries.iter().filter(|entry| entry.event == Event::Done) {
        let fresh = match entry.verb {
            Verb::Create => standing.insert((&entry.type_name, &entry.id)),
            Verb::Delete => standing.remove(&(&entry.type_name, &entry.id)),
            _ => true,
        };
        if !fresh {
            repeats.push(format!(
                "{} of {} {} happened twice",
                entry.verb.as_str(),
                entry.type_name,
                entry.id
            ));
        }
    }
    repeats
}

/// Changes that began in one process while those of another were in flight, one sentence each. Only for stacks
/// that share a directory and must not overlap; a process that was killed in a call stays in flight, so name
/// those whose end was seen in `ended`.
pub fn overlaps(entries: &[Entry], ended: &[u32]) -> Vec<String> {
    let mut in_flight: BTreeMap<u32, usize> = BTreeMap::new();
    let mut overlaps = Vec::new();
    for entry in entries.iter().filter(|entry| entry.verb.mutates() && !ended.contains(&entry.pid)) {
        let calls = in_flight.entry(entry.pid).or_default();
        match entry.event {
            Event::Begin => *calls += 1,
            Event::Done | Event::Failed => *calls = calls.saturating_sub(1),
            Event::Fault => {}
        }
        let other = in_flight.iter().find(|(pid, calls)| **pid != entry.pid && **calls > 0);
        if let (Event::Begin, Some((pid, _))) = (entry.event, other) {
            overlaps.push(format!(
                "{} {} began in {} while {pid} was changing",
                entry.type_name, entry.id, entry.pid
            ));
        }
    }
    overlaps
}

#[cfg(test)]
mod tests {
    use super::{Entry, Event, overlaps, repeats};
    use crate::control::Verb;

    fn entry(event: Event, verb: Verb, id: &str, pid: u32) -> Entry {
        let (type_name, id) = ("toy_bucket".to_owned(), id.to_owned());
        Entry { at: 0, event, verb, type_name, id, pid, message: None }
    }

    #[test]
    fn a_second_create_is_a_repeat_unless_it_was_deleted() {
        let made = entry(Event::Done, Verb::Create, "bucket-a", 1);
        let gone = entry(Event::Done, Verb::Delete, "bucket-a", 1);
        assert!(repeats(&[made.clone(), gone, made.clone()]).is_empty());
        assert_eq!(repeats(&[made.clone(), made]), ["create of toy_bucket bucket-a happened twice"]);
    }

    #[test]
    fn calls_of_one_process_may_overlap_and_those_of_two_may_not() {
        let begin = |id: &str, pid| entry(Event::Begin, Verb::Create, id, pid);
        assert!(overlaps(&[begin("a", 1), begin("b", 1)], &[]).is_empty());
        assert_eq!(
            overlaps(&[begin("a", 1), begin("b", 2)], &[]),
            ["toy_bucket b began in 2 while 1 was changing"]
        );
        assert!(overlaps(&[begin("a", 1), begin("b", 2)], &[1]).is_empty(), "1 was killed before");
        let ended = [begin("a", 1), entry(Event::Failed, Verb::Create, "a", 1), begin("b", 2)];
        assert!(overlaps(&ended, &[]).is_empty());
    }
}
