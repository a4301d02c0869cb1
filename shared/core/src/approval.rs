//! Who must approve, and when a plan may be applied: the rules of one stack (`approval`), as its manifest states them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::id::{InvalidId, ObjectName};
use crate::plan::summary::PlanCounts;
use crate::time::{Span, Timestamp};
use crate::window::Window;

/// All rules of a stack. Each that holds for a plan must be met.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRules {
    /// What holds for every plan.
    pub always: ApprovalRule,
    /// What holds beside it for some plans.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when: Vec<StricterRule>,
}

impl ApprovalRules {
    /// The rules that hold for a plan, each with what it is called: `approval`, `approval.when[0] (destroys > 0)`.
    pub fn of_plan(&self, counts: PlanCounts) -> Vec<(String, &ApprovalRule)> {
        let stricter = self.when.iter().enumerate().filter(|(_, stricter)| stricter.condition.holds(counts));
        let named = stricter.map(|(index, stricter)| {
            (format!("approval.when[{index}] ({})", stricter.condition), &stricter.rule)
        });
        std::iter::once(("approval".to_owned(), &self.always)).chain(named).collect()
    }

    /// The teams that are named in any rule.
    pub fn teams(&self) -> impl Iterator<Item = &ObjectName> {
        let rules = std::iter::once(&self.always).chain(self.when.iter().map(|stricter| &stricter.rule));
        rules.flat_map(|rule| rule.teams.iter().map(|wanted| &wanted.team))
    }
}

/// One rule.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRule {
    /// How many people must approve, of whichever team.
    pub count: u32,
    /// How many people of which teams must approve. Nobody counts for two teams.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub teams: Vec<TeamCount>,
    /// The approval of whoever wrote, committed or pushed what is to be applied does not count.
    #[serde(default)]
    pub not_author: bool,
    /// How long an approval counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_after: Option<Span>,
    /// When plans may be approved and applied: while one of these is open; at any time where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only_within: Vec<Window>,
}

impl ApprovalRule {
    /// How many people must approve in all.
    pub fn people(&self) -> u32 {
        self.count.max(self.of_teams())
    }

    /// Why plans may neither be approved nor applied now, and when they may again; `None` where they may.
    pub fn closed(&self, now: Timestamp) -> Option<Closed> {
        if self.only_within.is_empty() || self.only_within.iter().any(|window| window.is_open(now)) {
            return None;
        }
        let opens = self.only_within.iter().filter_map(|window| window.next_opening(now)).min();
        let windows: Vec<String> = self.only_within.iter().map(ToString::to_string).collect();
        Some(Closed { windows: windows.join(", "), opens })
    }

    /// How many of them must be of certain teams.
    pub fn of_teams(&self) -> u32 {
        self.teams.iter().fold(0, |sum, wanted| sum.saturating_add(wanted.count))
    }
}

/// That no window is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    /// Which there are, for people.
    pub windows: String,
    /// When one opens next; `None` where none ever does.
    pub opens: Option<Timestamp>,
}

impl fmt::Display for Closed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "plans are approved and applied within {} alone", self.windows)?;
        match self.opens {
            Some(opens) => write!(formatter, "; that opens at {opens}"),
            None => formatter.write_str("; that never opens"),
        }
    }
}

/// How many people of a team must approve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamCount {
    /// The team.
    pub team: ObjectName,
    /// How many.
    pub count: u32,
}

/// A rule for some plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StricterRule {
    /// For which.
    pub condition: PlanCondition,
    /// What it demands.
    pub rule: ApprovalRule,
}

/// What must be true of a plan: `destroys > 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanCondition {
    what: Counted,
    at_least: u32,
}

/// What is counted of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    Creates,
    Updates,
    Replaces,
    /// Deleted, whether something takes its place or not.
    Destroys,
    Forgets,
    /// All of these.
    Changes,
}

impl Counted {
    const ALL: [(&str, Self); 6] = [
        ("creates", Self::Creates),
        ("updates", Self::Updates),
        ("replaces", Self::Replaces),
        ("destroys", Self::Destroys),
        ("forgets", Self::Forgets),
        ("changes", Self::Changes),
    ];

    fn count(self, counts: PlanCounts) -> u32 {
        let sum = |parts: &[u32]| parts.iter().fold(0_u32, |sum, part| sum.saturating_add(*part));
        match self {
            Self::Creates => counts.create,
            Self::Updates => counts.update,
            Self::Replaces => counts.replace,
            Self::Destroys => sum(&[counts.delete, counts.replace]),
            Self::Forgets => counts.forget,
            // What this version does not know may be anything.
            Self::Changes => sum(&[
                counts.create,
                counts.update,
                counts.delete,
                counts.replace,
                counts.forget,
                counts.other,
            ]),
        }
    }
}

impl PlanCondition {
    /// Whether it is true of a plan. A resource with an action that is not known counts for each kind.
    pub fn holds(self, counts: PlanCounts) -> bool {
        let unknown = if self.what == Counted::Changes { 0 } else { counts.other };
        self.what.count(counts).saturating_add(unknown) >= self.at_least
    }
}

impl fmt::Display for PlanCondition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Counted::ALL.iter().find(|(_, what)| *what == self.what).map_or("", |(name, _)| name);
        write!(formatter, "{name} > {}", self.at_least.saturating_sub(1))
    }
}

impl FromStr for PlanCondition {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        let invalid = || InvalidId {
            found: text.to_owned(),
            expected: "a condition such as `destroys > 0` or `changes >= 20`",
        };
        let (name, bound) = text.split_once('>').ok_or_else(invalid)?;
        let (bound, more) = bound.strip_prefix('=').map_or((bound, 1), |bound| (bound, 0));
        let what = Counted::ALL.iter().find(|(known, _)| *known == name.trim()).ok_or_else(invalid)?.1;
        let bound: u32 = bound.trim().parse().map_err(|_| invalid())?;
        let at_least = bound.checked_add(more).filter(|bound| *bound > 0).ok_or_else(invalid)?;
        Ok(Self { what, at_least })
    }
}

impl Serialize for PlanCondition {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PlanCondition {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_counts_what_it_names() {
        let counts = PlanCounts { create: 1, delete: 2, replace: 3, ..PlanCounts::default() };
        for (text, holds) in [
            ("destroys > 0", true),
            ("destroys > 4", true),
            ("destroys > 5", false),
            ("replaces >= 3", true),
            ("replaces>3", false),
            ("updates > 0", false),
            ("changes >= 6", true),
            ("changes > 6", false),
        ] {
            let condition: PlanCondition = text.parse().unwrap();
            assert_eq!(condition.holds(counts), holds, "{text}");
            assert_eq!(condition.to_string().parse(), Ok(condition), "{text}");
        }
        for text in
            ["", "destroys", "destroys > ", "destroys < 3", "deletes > 0", "destroys >= 0", "destroys > -1"]
        {
            assert!(text.parse::<PlanCondition>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_action_that_is_not_known_counts_as_any() {
        let counts = PlanCounts { other: 1, ..PlanCounts::default() };
        assert!("destroys > 0".parse::<PlanCondition>().unwrap().holds(counts));
        assert!(!"destroys > 1".parse::<PlanCondition>().unwrap().holds(counts));
    }
}
