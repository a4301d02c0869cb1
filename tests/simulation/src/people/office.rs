//! Teams and their members, and where messages go, as manifests beside those of the stacks.

use std::collections::BTreeMap;

use super::NAMES;
use crate::chance::Chance;
use crate::world::services::{HOOK, SLACK};

/// The names of the teams.
pub(super) const TEAMS: [&str; 2] = ["alpha", "beta"];
/// The secret with the bot's token.
pub(crate) const BOT: &str = "slack-bot";
/// The providers, as records name them.
pub(crate) const PROVIDERS: [&str; 2] = ["default/hook", "default/slack"];

/// Who is in which team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Office {
    teams: BTreeMap<&'static str, BTreeMap<&'static str, KnownBy>>,
}

/// The names under which a member stands in a team.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum KnownBy {
    Slack,
    Git,
    Both,
}

/// The id of somebody in Slack.
pub(crate) fn slack_id(who: &str) -> String {
    format!("U{}", who.to_uppercase())
}

impl KnownBy {
    fn any(chance: &mut Chance) -> Self {
        chance
            .one_of(&[Self::Slack, Self::Git, Self::Both, Self::Both, Self::Both])
            .copied()
            .unwrap_or(Self::Both)
    }
}

impl Office {
    /// An office where most people are in some team.
    pub(super) fn any(chance: &mut Chance) -> Self {
        let mut members = || {
            let mut members: BTreeMap<&'static str, KnownBy> = NAMES
                .into_iter()
                .filter(|_| chance.permille(650))
                .map(|name| (name, KnownBy::Both))
                .collect();
            members.insert(NAMES[0], KnownBy::any(chance));
            members
        };
        Self { teams: TEAMS.into_iter().map(|team| (team, members())).collect() }
    }

    /// Somebody joins a team, leaves it, or is known there by other names. Says what.
    pub(super) fn change(&mut self, chance: &mut Chance) -> String {
        let team = chance.one_of(&TEAMS).copied().unwrap_or_default();
        let name = chance.one_of(&NAMES).copied().unwrap_or_default();
        let Some(members) = self.teams.get_mut(team) else { return "nothing".to_owned() };
        // A team without members is faulty, and holds all else back.
        if members.len() > 1 && members.contains_key(name) && chance.permille(600) {
            members.remove(name);
            return format!("{name} leaves {team}");
        }
        let known_by = KnownBy::any(chance);
        members.insert(name, known_by);
        format!("{name} is in {team}, by {known_by:?}")
    }

    /// The manifests.
    pub(super) fn written(&self) -> String {
        let teams = self.teams.iter().map(|(team, members)| {
            let members: String = members.iter().map(|(name, known_by)| member(name, *known_by)).collect();
            format!("---\napiVersion: yuba.dev/v1\nkind: Team\nmetadata:\n  name: {team}\nspec:\n  members:\n{members}")
        });
        teams.chain([messages()]).collect()
    }
}

fn member(name: &str, known_by: KnownBy) -> String {
    let email = format!(", email: {name}@example.com");
    let slack = format!(", slack: {}", slack_id(name));
    let (email, slack) = match known_by {
        KnownBy::Slack => ("", slack.as_str()),
        KnownBy::Git => (email.as_str(), ""),
        KnownBy::Both => (email.as_str(), slack.as_str()),
    };
    format!("    - {{name: {name}{email}{slack}}}\n")
}

/// Everything goes to Slack and to the hook.
fn messages() -> String {
    let api = "notification.toolkit.fluxcd.io/v1beta3";
    let provider = |name: &str, more: &str| {
        format!("---\napiVersion: {api}\nkind: Provider\nmetadata:\n  name: {name}\nspec:\n{more}")
    };
    let alert = |name: &str| {
        format!(
            "---\napiVersion: {api}\nkind: Alert\nmetadata:\n  name: all-to-{name}\nspec:\n  providerRef:\n    name: {name}\n  \
             eventSources:\n    - kind: Terraform\n      name: '*'\n"
        )
    };
    let slack = format!("  type: slack\n  channel: C1\n  address: {SLACK}\n  secretRef:\n    name: {BOT}\n");
    let hook = format!("  type: generic\n  address: {HOOK}\n");
    [provider("slack", &slack), provider("hook", &hook), alert("slack"), alert("hook")].concat()
}
