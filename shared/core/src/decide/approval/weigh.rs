//! Weighs approvals against one rule: who does not count, and who is still needed. Nobody counts twice, neither under
//! two names nor for two teams.

use std::collections::BTreeSet;

use super::voter::Voter;
use crate::approval::{ApprovalRule, TeamCount};
use crate::id::ObjectName;
use crate::people::Identity;
use crate::time::Timestamp;

/// An approval of the plan that is weighed.
#[derive(Debug, Clone)]
pub(super) struct Vote {
    pub(super) voter: Voter,
    pub(super) at: Timestamp,
}

/// A rule, and what it is weighed with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale<'a> {
    /// What the rule is called.
    pub(super) name: &'a str,
    pub(super) rule: &'a ApprovalRule,
    /// Who wrote, committed or pushed what would be applied.
    pub(super) authors: &'a BTreeSet<Identity>,
    pub(super) now: Timestamp,
}

impl Scale<'_> {
    /// Why somebody's approval does not count under the rule, if so, and what to do.
    pub(super) fn objection(&self, voter: &Voter) -> Option<String> {
        let name = self.name;
        match voter {
            Voter::Stranger(known_as) => {
                return Some(format!("no Team knows {known_as}: ask for an entry in one"));
            }
            Voter::TokenHolder if self.rule.not_author => {
                return Some(format!(
                    "{name}.notAuthor: whoever holds the API's token may be the author; approve as a member of a Team"
                ));
            }
            Voter::Person(person) if self.rule.not_author => {
                if let Some(known_as) = person.identities.intersection(self.authors).next() {
                    return Some(format!(
                        "{name}.notAuthor: you wrote, committed or pushed what would be applied ({known_as}); somebody else \
                         must approve it"
                    ));
                }
                if !person.identities.iter().any(Identity::is_of_git) {
                    return Some(format!(
                        "{name}.notAuthor: no Team says under which e-mail address or login you commit, so nobody can tell \
                         that you are not the author; add them to your entry"
                    ));
                }
            }
            Voter::TokenHolder | Voter::Person(_) => {}
        }
        let seats_for_all = self.rule.people() > self.rule.of_teams();
        if self.rule.people() == 0 || seats_for_all || self.is_of_wanted_team(voter) {
            return None;
        }
        let teams: Vec<&ObjectName> = self.rule.teams.iter().map(|wanted| &wanted.team).collect();
        Some(format!("{name}.teams: only members of {} count here; ask one of them", listed(&teams)))
    }

    fn is_of_wanted_team(&self, voter: &Voter) -> bool {
        self.rule.teams.iter().any(|wanted| is_of(voter, &wanted.team))
    }

    /// Whether an approval has not lapsed.
    pub(super) fn is_fresh(&self, vote: &Vote) -> bool {
        self.rule.expires_after.is_none_or(|span| self.now.since(vote.at) <= span)
    }

    /// Who is still needed, for people; empty where the rule is met.
    pub(super) fn needs(&self, votes: &[Vote]) -> Vec<String> {
        let mut present: Vec<&Voter> = Vec::new();
        for vote in votes.iter().filter(|vote| self.is_fresh(vote) && self.objection(&vote.voter).is_none()) {
            if !present.iter().any(|known| known.is(&vote.voter)) {
                present.push(&vote.voter);
            }
        }
        let seats = Seats { wanted: &self.rule.teams, voters: &present };
        let (of_teams, mut needs) = seats.needs();
        let count = u32::try_from(present.len()).unwrap_or(u32::MAX);
        let more = self.rule.people().saturating_sub(count).saturating_sub(of_teams);
        if more > 0 {
            needs.push(approvals(more));
        }
        match self.name {
            "approval" => needs,
            name => needs.into_iter().map(|need| format!("{need} by {name}")).collect(),
        }
    }
}

/// The seats that a rule keeps for members of teams.
struct Seats<'a> {
    wanted: &'a [TeamCount],
    voters: &'a [&'a Voter],
}

impl Seats<'_> {
    /// How many seats stay empty though everybody sits on the best one, and whom they are for. By Hall's theorem these
    /// are the seats of that group of teams whose members are too few by most.
    fn needs(&self) -> (u32, Vec<String>) {
        let alone: Vec<(u32, &ObjectName)> =
            self.wanted.iter().map(|wanted| (self.empty(&[wanted]), &wanted.team)).collect();
        let worst = self
            .groups()
            .map(|group| (self.empty(&group), group))
            .reduce(|worst, group| if group.0 > worst.0 { group } else { worst });
        let Some((empty, group)) = worst.filter(|(empty, _)| *empty > 0) else { return (0, Vec::new()) };
        if alone.iter().map(|(empty, _)| *empty).fold(0, u32::saturating_add) == empty {
            let needs = alone.iter().filter(|(empty, _)| *empty > 0);
            return (
                empty,
                needs.map(|(empty, team)| format!("{}, of team {team}", approvals(*empty))).collect(),
            );
        }
        let teams: Vec<&ObjectName> = group.iter().map(|wanted| &wanted.team).collect();
        let need = format!("{}, of {} (nobody counts for two teams)", approvals(empty), listed(&teams));
        (empty, vec![need])
    }

    /// How many seats of these teams their members among the voters leave empty.
    fn empty(&self, group: &[&TeamCount]) -> u32 {
        let seats = group.iter().fold(0_u32, |sum, wanted| sum.saturating_add(wanted.count));
        let sits = |voter: &&&Voter| group.iter().any(|wanted| is_of(voter, &wanted.team));
        seats.saturating_sub(u32::try_from(self.voters.iter().filter(sits).count()).unwrap_or(u32::MAX))
    }

    /// Every group of teams; manifests name at most [`MOST_TEAMS`] in a rule.
    fn groups(&self) -> impl Iterator<Item = Vec<&TeamCount>> {
        let most = self.wanted.len().min(MOST_TEAMS);
        (1_u32..1 << most).map(move |chosen| {
            let is_chosen = |(index, _): &(usize, &TeamCount)| chosen >> index & 1 == 1;
            self.wanted.iter().take(most).enumerate().filter(is_chosen).map(|(_, wanted)| wanted).collect()
        })
    }
}

/// How many teams a rule may name: all groups of them are looked at.
pub(crate) const MOST_TEAMS: usize = 8;

fn is_of(voter: &Voter, team: &ObjectName) -> bool {
    matches!(voter, Voter::Person(person) if person.teams.contains(team))
}

fn approvals(count: u32) -> String {
    if count == 1 { "1 more approval".to_owned() } else { format!("{count} more approvals") }
}

fn listed(teams: &[&ObjectName]) -> String {
    let names: Vec<String> = teams.iter().map(ToString::to_string).collect();
    match names.as_slice() {
        [name] => format!("team {name}"),
        _ => format!("teams {}", names.join(", ")),
    }
}
