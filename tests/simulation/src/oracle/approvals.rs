//! Who approved a plan, and whether that is enough: weighed anew from the records, by what is known of people here and not
//! by what teams say of each other.

use std::collections::{BTreeMap, BTreeSet};

use yuba_core::approval::ApprovalRule;
use yuba_core::id::ObjectName;
use yuba_core::people::{Identity, Team};
use yuba_core::record::Key;
use yuba_core::request::{Decision, DecisionVerdict, Signed};
use yuba_core::run::{Run, RunKind};
use yuba_core::time::{Span, Timestamp};

use crate::people::{NAMES, STRANGER, slack_id};
use crate::world::State;

/// How far clocks may be off, and what they wrote.
const BLUR: Span = Span::minutes(3);

/// The teams in force.
#[derive(Debug, Default)]
pub(super) struct Teams(BTreeMap<Key, Team>);

/// Which way a doubt about the time counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// An approval that may still count does.
    ForThem,
    /// An approval that may count no more does not.
    AgainstThem,
}

/// Somebody who approved.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Voter {
    /// The human; whoever holds the API's token is one.
    who: String,
    teams: BTreeSet<ObjectName>,
    /// Whether a team says under which address they commit.
    is_known_to_git: bool,
    at: Timestamp,
}

/// The human behind a name.
fn human(identity: &Identity) -> Option<&'static str> {
    let is = |name: &&str| match identity {
        Identity::Slack(id) => *id == slack_id(name),
        Identity::Email(address) => *address == format!("{name}@example.com"),
        _ => false,
    };
    NAMES.into_iter().chain([STRANGER]).find(is)
}

impl Teams {
    pub(super) fn wrote(&mut self, key: &Key, team: Team) {
        self.0.insert(key.clone(), team);
    }

    pub(super) fn deleted(&mut self, key: &Key) {
        self.0.remove(key);
    }

    /// Whether any team knows somebody by this name.
    pub(super) fn know(&self, identity: &Identity) -> bool {
        self.0.values().flat_map(|team| &team.members).any(|member| member.identities.contains(identity))
    }

    /// Whoever signed, as rules count them; nobody where no team knows them.
    fn voter(&self, by: &Signed) -> Option<Voter> {
        let Some(identity) = &by.identity else {
            let who = "whoever holds the token".to_owned();
            return Some(Voter { who, teams: BTreeSet::new(), is_known_to_git: false, at: by.at });
        };
        let who = human(identity)?;
        let email = Identity::email(&format!("{who}@example.com"));
        let mut names = BTreeSet::from([identity.clone()]);
        let members = || self.0.values().flat_map(|team| &team.members);
        // One entry with both names says that they are one human's.
        if members().any(|member| member.identities.contains(identity) && member.identities.contains(&email))
        {
            names.insert(email);
        }
        let has = |team: &&Team| team.members.iter().any(|member| !member.identities.is_disjoint(&names));
        let teams: BTreeSet<ObjectName> = self.0.values().filter(has).map(|team| team.name.clone()).collect();
        let is_known_to_git = names.iter().any(Identity::is_of_git);
        (!teams.is_empty()).then(|| Voter { who: who.to_owned(), teams, is_known_to_git, at: by.at })
    }
}

impl State {
    /// Whether a new decision is one of nobody that a team knows.
    pub(super) fn is_of_stranger(&self, before: Option<&Run>, run: &Run) -> Option<String> {
        let is_new = |decision: &&Decision| before.is_none_or(|before| !before.decisions.contains(decision));
        let mut identities =
            run.decisions.iter().filter(is_new).filter_map(|decision| decision.by.identity.as_ref());
        let stranger = identities.find(|identity| !self.oracle.teams.know(identity))?;
        Some(format!("{stranger} decided about run {} of {}, and no team knows them", run.number, run.name))
    }

    /// Why the approvals of a run's plan are not enough for the rules of its stack.
    pub(super) fn lacks(&self, run: &Run, doubt: Doubt) -> Option<String> {
        let plan = run.plan.as_ref().filter(|plan| plan.report.has_changes)?;
        let rules = self.oracle.definitions.get(&run.stack)?.spec.approval.as_ref()?;
        let content = plan.report.content;
        let approvals = run
            .decisions
            .iter()
            .filter(|decision| decision.verdict == DecisionVerdict::Approve && decision.content == content);
        let asked = run.asked_by.iter().filter(|_| run.expects == Some(content));
        let signed = approvals.map(|decision| &decision.by).chain(asked);
        let voters: Vec<Voter> = signed.filter_map(|by| self.oracle.teams.voter(by)).collect();
        let author = self.author(run);
        let rules = rules.of_plan(plan.report.counts);
        rules.into_iter().find_map(|(name, rule)| {
            let counting = self.counting(&voters, rule, (author, doubt));
            let is_enough = counting.len() >= rule.people() as usize && seats(&wanted(rule), &counting);
            (!is_enough).then(|| {
                let who: Vec<&str> = counting.iter().map(|voter| voter.who.as_str()).collect();
                format!("{name} demands {rule:?}, and these approved: {who:?}")
            })
        })
    }

    /// Those who count for a rule, each human once.
    fn counting<'a>(
        &self,
        voters: &'a [Voter],
        rule: &ApprovalRule,
        (author, doubt): (Option<&'static str>, Doubt),
    ) -> Vec<&'a Voter> {
        let blur = if doubt == Doubt::ForThem { BLUR } else { Span(-BLUR.0) };
        let is_fresh = |voter: &&Voter| {
            rule.expires_after.is_none_or(|span| self.now.since(voter.at) <= Span(span.0 + blur.0))
        };
        let may = |voter: &&Voter| {
            !rule.not_author || voter.is_known_to_git && author.is_none_or(|author| author != voter.who)
        };
        let mut counting: Vec<&Voter> = Vec::new();
        for voter in voters.iter().filter(is_fresh).filter(may) {
            if counting.iter().all(|known| known.who != voter.who) {
                counting.push(voter);
            }
        }
        counting
    }

    /// Who wrote the commit that a run would apply; nobody where it applies what was applied before.
    fn author(&self, run: &Run) -> Option<&'static str> {
        if run.kind == RunKind::Drift || run.expects.is_some() {
            return None;
        }
        let commit = self.git.pushed.iter().find(|(_, commit)| commit.id == run.commit.id)?;
        NAMES.into_iter().find(|name| *name == commit.1.author)
    }
}

/// One seat for each approval that a team must give.
fn wanted(rule: &ApprovalRule) -> Vec<ObjectName> {
    let seats = rule.teams.iter().flat_map(|wanted| (0..wanted.count).map(|_| wanted.team.clone()));
    seats.collect()
}

/// Whether each seat can be taken by somebody else.
fn seats(wanted: &[ObjectName], voters: &[&Voter]) -> bool {
    let Some((first, rest)) = wanted.split_first() else { return true };
    voters.iter().enumerate().filter(|(_, voter)| voter.teams.contains(first)).any(|(taken, _)| {
        let others: Vec<&Voter> =
            voters.iter().enumerate().filter(|(at, _)| *at != taken).map(|(_, voter)| *voter).collect();
        seats(rest, &others)
    })
}
