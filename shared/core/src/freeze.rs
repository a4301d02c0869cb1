//! Freezes: times in which nothing of the stacks that they cover is applied, as the manifests name them. They bind at
//! once, for stacks of all sets: when somebody decides, and again before an apply.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::declared::{Binding, Declared, DeclaredSpec};
use crate::id::{ObjectName, StackName};
use crate::time::Timestamp;
use crate::window::Window;

/// How many windows that follow each other without a gap are looked at.
const MOST_WINDOWS: usize = 100;

/// A `Freeze` manifest as it was taken over.
pub type Freeze = Declared<FreezeSpec>;

/// What a `Freeze` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreezeSpec {
    /// Why, for people; may be empty.
    pub reason: String,
    /// Since when; at all times before `until` where there is none.
    pub from: Option<Timestamp>,
    /// Until when, that moment not included; for good where there is none.
    pub until: Option<Timestamp>,
    /// Within that, only while one of these is open; all the time where there are none.
    pub windows: Vec<Window>,
    /// What is frozen; every stack where there are none.
    pub stacks: Vec<Covered>,
}

/// Which stacks a freeze covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Covered {
    /// The stack's name, or `*`.
    pub name: String,
    /// The stack's namespace, or `*`.
    pub namespace: String,
    /// Labels that the stack must have.
    pub labels: BTreeMap<String, String>,
}

/// That a stack is frozen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frozen {
    /// By which freeze.
    pub freeze: ObjectName,
    /// Why; may be empty.
    pub reason: String,
    /// Until when; `None` where that is not known.
    pub until: Option<Timestamp>,
}

impl DeclaredSpec for FreezeSpec {
    const KIND: &'static str = "Freeze";
    const PARTITION: &'static str = "freezes";
    const SCHEMA: u32 = 1;
    const BINDING: Binding = Binding::AtOnce;
}

impl FreezeSpec {
    /// Whether it is in force, and until when: `None` where no end is known.
    pub fn in_force(&self, now: Timestamp) -> Option<Option<Timestamp>> {
        if self.from.is_some_and(|from| now < from) || self.until.is_some_and(|until| now >= until) {
            return None;
        }
        if self.windows.is_empty() {
            return Some(self.until);
        }
        let mut end = self.closing(now)?;
        // A window that opens before another closes goes on where that ends.
        for _ in 0..MOST_WINDOWS {
            match self.closing(end) {
                Some(later) => end = later,
                None => break,
            }
        }
        Some(Some(self.until.map_or(end, |until| until.min(end))))
    }

    /// When it begins next, where it is not in force; `None` where it never does.
    pub fn next_start(&self, now: Timestamp) -> Option<Timestamp> {
        let earliest = self.from.unwrap_or(now).max(now);
        let start = match self.closing(earliest) {
            _ if self.windows.is_empty() => self.from.filter(|from| *from > now),
            Some(_) => Some(earliest).filter(|start| *start > now),
            None => self.windows.iter().filter_map(|window| window.next_opening(earliest)).min(),
        };
        start.filter(|start| self.until.is_none_or(|until| *start < until))
    }

    /// When the last of the windows closes that are open at a time; `None` where none is.
    fn closing(&self, at: Timestamp) -> Option<Timestamp> {
        self.windows.iter().filter_map(|window| window.closes(at)).max()
    }

    /// Whether it covers a stack.
    pub fn covers(&self, stack: &StackName, labels: &BTreeMap<String, String>) -> bool {
        self.stacks.is_empty() || self.stacks.iter().any(|covered| covered.is(stack, labels))
    }
}

impl Covered {
    fn is(&self, stack: &StackName, labels: &BTreeMap<String, String>) -> bool {
        let fits = |pattern: &str, text: &str| pattern == "*" || pattern == text;
        fits(&self.namespace, &stack.namespace)
            && fits(&self.name, &stack.name)
            && self.labels.iter().all(|(name, value)| labels.get(name) == Some(value))
    }
}

impl Frozen {
    /// The freeze that holds a stack longest now, of those that are in force.
    pub fn of(
        freezes: &[Freeze],
        stack: &StackName,
        labels: &BTreeMap<String, String>,
        now: Timestamp,
    ) -> Option<Self> {
        let frozen = |freeze: &&Freeze| {
            let until = freeze.spec.in_force(now)?;
            Some(Self { freeze: freeze.name.clone(), reason: freeze.spec.reason.clone(), until })
        };
        covering(freezes, stack, labels)
            .filter_map(|freeze| frozen(&freeze))
            .max_by_key(|frozen| (frozen.until.is_none(), frozen.until))
    }

    /// When a freeze of a stack begins next.
    pub fn next_start(
        freezes: &[Freeze],
        stack: &StackName,
        labels: &BTreeMap<String, String>,
        now: Timestamp,
    ) -> Option<Timestamp> {
        covering(freezes, stack, labels).filter_map(|freeze| freeze.spec.next_start(now)).min()
    }
}

fn covering<'a>(
    freezes: &'a [Freeze],
    stack: &'a StackName,
    labels: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = &'a Freeze> {
    let stands = |freeze: &&Freeze| freeze.vanished.is_none();
    freezes.iter().filter(stands).filter(|freeze| freeze.spec.covers(stack, labels))
}

impl fmt::Display for Frozen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Freeze {}", self.freeze)?;
        if !self.reason.is_empty() {
            write!(formatter, " ({})", self.reason)?;
        }
        match self.until {
            Some(until) => write!(formatter, ": nothing is approved or applied until {until}"),
            None => formatter.write_str(": nothing is approved or applied while its manifest stands"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ManifestSetName;
    use crate::time::Span;

    const DAY: Timestamp = Timestamp(1_796_040_000_000); // 2026-11-30T12:00:00Z

    fn spec(from: Option<i64>, until: Option<i64>, windows: &[(&str, i64)]) -> FreezeSpec {
        let at = |hours: i64| DAY + Span::hours(hours);
        let window = |(cron, hours): &(&str, i64)| Window {
            cron: cron.parse().unwrap(),
            duration: Span::hours(*hours),
            time_zone: "UTC".parse().unwrap(),
        };
        let windows = windows.iter().map(window).collect();
        let reason = "the end of the year".to_owned();
        FreezeSpec { reason, from: from.map(at), until: until.map(at), windows, stacks: Vec::new() }
    }

    /// Whether it is in force so many hours after noon; until how many.
    fn at(spec: &FreezeSpec, hours: i64) -> String {
        match spec.in_force(DAY + Span::hours(hours)) {
            None => "no".to_owned(),
            Some(None) => "for good".to_owned(),
            Some(Some(end)) => format!("to {}", (end.0 - DAY.0) / 3_600_000),
        }
    }

    #[test]
    fn a_freeze_is_in_force_from_its_beginning_to_its_end() {
        let both = spec(Some(1), Some(3), &[]);
        assert_eq!([0, 1, 2, 3].map(|hours| at(&both, hours)), ["no", "to 3", "to 3", "no"]);
        assert_eq!(at(&spec(None, None, &[]), 0), "for good");
        assert_eq!([0, 1].map(|hours| at(&spec(None, Some(1), &[]), hours)), ["to 1", "no"]);
        assert_eq!(both.next_start(DAY), Some(DAY + Span::hours(1)));
        assert_eq!(both.next_start(DAY + Span::hours(1)), None);
    }

    #[test]
    fn with_windows_it_is_in_force_while_one_is_open_within_its_time() {
        let nightly = spec(None, Some(60), &[("0 20 * * *", 10)]);
        let nights = [0, 8, 17, 18, 57].map(|hours| at(&nightly, hours));
        assert_eq!(nights, ["no", "to 18", "to 18", "no", "to 60"]);
        assert_eq!(nightly.next_start(DAY), Some(DAY + Span::hours(8)));
        assert_eq!(nightly.next_start(DAY + Span::hours(58)), None, "the next night is after its end");
        let joined = spec(None, None, &[("0 12 * * *", 6), ("0 17 * * *", 4)]);
        assert_eq!(at(&joined, 0), "to 9", "one goes on where the other ends");
        let later = spec(Some(14), None, &[("0 0 * * *", 6)]);
        assert_eq!(later.next_start(DAY), Some(DAY + Span::hours(14)), "the window is open when it begins");
    }

    #[test]
    fn it_covers_the_stacks_that_it_names_or_all() {
        let covered = |name: &str, namespace: &str, env: Option<&str>| Covered {
            name: name.to_owned(),
            namespace: namespace.to_owned(),
            labels: env.map(|env| ("env".to_owned(), env.to_owned())).into_iter().collect(),
        };
        let labels = BTreeMap::from([("env".to_owned(), "prod".to_owned())]);
        let covers = |stacks: Vec<Covered>| {
            let spec = FreezeSpec { stacks, ..spec(None, None, &[]) };
            spec.covers(&StackName::new("infra", "network"), &labels)
        };
        assert!(covers(Vec::new()));
        assert!(covers(vec![covered("*", "*", None)]) && covers(vec![covered("network", "infra", None)]));
        assert!(covers(vec![covered("dns", "infra", None), covered("*", "infra", Some("prod"))]));
        assert!(!covers(vec![covered("*", "web", None)]) && !covers(vec![covered("*", "*", Some("dev"))]));
    }

    #[test]
    fn the_freeze_that_holds_longest_is_named() {
        let freeze = |name: &str, spec: FreezeSpec, vanished| Freeze {
            name: ObjectName::new("infra", name),
            spec,
            set: ManifestSetName("flux".to_owned()),
            snapshot: 1,
            place: String::new(),
            vanished,
        };
        let (stack, labels) = (StackName::new("infra", "network"), BTreeMap::new());
        let short = freeze("short", spec(None, Some(2), &[]), None);
        let long = freeze("long", spec(None, Some(3), &[]), None);
        let endless = freeze("endless", spec(None, None, &[]), None);
        let gone = freeze("gone", spec(None, None, &[]), Some(DAY));
        let of =
            |freezes: &[Freeze]| Frozen::of(freezes, &stack, &labels, DAY).map(|frozen| frozen.to_string());
        assert_eq!(of(std::slice::from_ref(&gone)), None);
        insta::assert_snapshot!(of(&[short.clone(), long.clone(), gone]).unwrap(), @"Freeze infra/long (the end of the year): nothing is approved or applied until 2026-11-30T15:00:00Z");
        insta::assert_snapshot!(of(&[short, endless, long]).unwrap(), @"Freeze infra/endless (the end of the year): nothing is approved or applied while its manifest stands");
    }
}
