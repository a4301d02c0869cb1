//! What of a plan is kept, however large it is: counts always, entries and details within bounds.

use std::collections::BTreeMap;

use super::entry::Entry;
use super::summary::{
    Action, AttributeChange, LeftOut, OutputChange, PlanCounts, ResourceChange, ResourceDrift, Shown,
};

/// Entries listed at most, with or without details.
const ENTRIES: usize = 20_000;

/// Entries of a group whose attributes are kept at most.
const DETAILED: usize = 1_000;

/// Bytes of values and paths that are kept of a group's attributes at most.
const DETAIL_BYTES: usize = 2 * 1024 * 1024;

/// Collects entries. The counts do not depend on the bounds.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    pub(crate) counts: PlanCounts,
    pub(crate) changes: Vec<ResourceChange>,
    pub(crate) outputs: Vec<OutputChange>,
    pub(crate) drift: Vec<ResourceDrift>,
    pub(crate) providers: BTreeMap<String, Option<String>>,
    pub(crate) left_out: LeftOut,
    destructive: Budget,
    other: Budget,
}

/// What has been used of a group's bounds.
#[derive(Debug, Default)]
struct Budget {
    entries: usize,
    bytes: usize,
}

impl Budget {
    /// The attributes, where the bounds still hold them.
    fn admit(&mut self, attributes: Vec<AttributeChange>, left_out: &mut LeftOut) -> Vec<AttributeChange> {
        let bytes: usize = attributes.iter().map(weight).sum();
        if self.entries >= DETAILED || self.bytes + bytes > DETAIL_BYTES {
            left_out.details += 1;
            return Vec::new();
        }
        self.entries += 1;
        self.bytes += bytes;
        attributes
    }
}

impl Keeper {
    /// Counts and keeps a resource change.
    pub(crate) fn change(&mut self, entry: Entry) {
        self.count(&entry);
        if self.changes.len() >= ENTRIES && !entry.action.is_destructive() {
            self.left_out.entries += 1;
            return;
        }
        if self.changes.len() >= 2 * ENTRIES {
            self.left_out.entries += 1;
            return;
        }
        let mut change = entry.summarise();
        let budget = if change.action.is_destructive() { &mut self.destructive } else { &mut self.other };
        change.attributes = budget.admit(change.attributes, &mut self.left_out);
        self.changes.push(change);
    }

    /// Counts and keeps real drift.
    pub(crate) fn drift(&mut self, entry: Entry) {
        self.counts.drift += 1;
        if self.drift.len() >= ENTRIES {
            self.left_out.entries += 1;
            return;
        }
        let change = entry.summarise();
        let attributes = self.other.admit(change.attributes, &mut self.left_out);
        let ResourceChange { address, kind, action, .. } = change;
        self.drift.push(ResourceDrift { address, kind, action, attributes });
    }

    /// Counts and keeps an output change.
    pub(crate) fn output(&mut self, mut output: OutputChange) {
        self.counts.output += 1;
        if self.outputs.len() >= ENTRIES {
            self.left_out.entries += 1;
            return;
        }
        output.attributes = self.other.admit(output.attributes, &mut self.left_out);
        self.outputs.push(output);
    }

    /// Notes a provider by its source address.
    pub(crate) fn provider(&mut self, name: Option<&str>) {
        if let Some(name) = name.filter(|name| !self.providers.contains_key(*name)) {
            self.providers.insert(name.to_owned(), None);
        }
    }

    /// Brings what was kept into the order in which people read it.
    pub(crate) fn finish(mut self) -> Self {
        self.changes.sort_by(|one, other| {
            (rank(&one.action), &one.address, &one.deposed).cmp(&(
                rank(&other.action),
                &other.address,
                &other.deposed,
            ))
        });
        self.outputs.sort_by(|one, other| one.name.cmp(&other.name));
        self.drift.sort_by(|one, other| one.address.cmp(&other.address));
        self
    }

    fn count(&mut self, entry: &Entry) {
        let counts = &mut self.counts;
        counts.moved += u32::from(entry.moved_from.is_some());
        counts.import += u32::from(entry.imported().is_some());
        match &entry.action {
            Action::Read => counts.read += 1,
            // A data source that is gone from the code is dropped from the state; engines do not count it either.
            _ if entry.is_data => {}
            Action::NoOp => {}
            Action::Create => counts.create += 1,
            Action::Update => counts.update += 1,
            Action::Delete => counts.delete += 1,
            Action::DeleteThenCreate | Action::CreateThenDelete => counts.replace += 1,
            Action::Forget => counts.forget += 1,
            Action::ForgetThenCreate => {
                counts.forget += 1;
                counts.create += 1;
            }
            Action::Other(_) => counts.other += 1,
        }
    }
}

/// Deletes, then replaces, then what leaves the state's sight; what Yuba does not know next; harmless things last.
fn rank(action: &Action) -> u8 {
    match action {
        Action::Delete => 0,
        Action::DeleteThenCreate | Action::CreateThenDelete => 1,
        Action::Forget | Action::ForgetThenCreate => 2,
        Action::Other(_) => 3,
        Action::Update => 4,
        Action::Create => 5,
        Action::Read => 6,
        Action::NoOp => 7,
    }
}

fn weight(attribute: &AttributeChange) -> usize {
    let side = |shown: &Shown| match shown {
        Shown::Value(value) => value.to_string().len(),
        Shown::Long { prefix, .. } => prefix.len(),
        Shown::Absent | Shown::Unknown | Shown::Sensitive => 0,
    };
    64 + attribute.path.len() + side(&attribute.before) + side(&attribute.after)
}
