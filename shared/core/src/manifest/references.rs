//! What stacks refer to: dependencies without cycles, and sources and stacks that can be used.

use std::collections::{BTreeMap, BTreeSet};

use super::checks::at;
use super::messages;
use super::set::{Drafts, HeldBack};
use super::stack::StackDraft;
use crate::approval::ApprovalRules;
use crate::id::{ObjectName, SourceName, StackName};

type Dependencies = BTreeMap<StackName, Vec<StackName>>;

/// Holds back the stacks of each cycle; each is told the cycle in full.
pub(super) fn hold_back_cycles(drafts: &mut Drafts) {
    let knots = without_loose_ends(
        drafts.stacks.iter().map(|(draft, _)| (draft.name.clone(), draft.spec.depends_on.clone())).collect(),
    );
    let mut told: BTreeSet<StackName> = BTreeSet::new();
    for start in knots.keys() {
        if told.contains(start) {
            continue;
        }
        let Some(cycle) = cycle_through(start, &knots) else { continue };
        told.extend(cycle.iter().cloned());
        let mut names: Vec<String> = cycle.iter().map(ToString::to_string).collect();
        names.push(start.to_string());
        for name in &cycle {
            drafts.hold_back_stack(name, "spec.dependsOn", messages::cycle(&names));
        }
    }
}

/// Takes away, until nothing changes, what depends on nothing that is left: only cycles and their dependants stay.
fn without_loose_ends(mut left: Dependencies) -> Dependencies {
    let mut dependants: BTreeMap<StackName, Vec<StackName>> = BTreeMap::new();
    for (name, dependencies) in &left {
        for dependency in dependencies {
            dependants.entry(dependency.clone()).or_default().push(name.clone());
        }
    }
    let mut candidates: Vec<StackName> = left.keys().cloned().collect();
    while let Some(candidate) = candidates.pop() {
        let tied =
            left.get(&candidate).is_none_or(|others| others.iter().any(|other| left.contains_key(other)));
        if !tied {
            left.remove(&candidate);
            candidates.extend(dependants.get(&candidate).cloned().unwrap_or_default());
        }
    }
    left
}

/// The shortest way from a stack over its dependencies back to itself.
fn cycle_through(start: &StackName, knots: &Dependencies) -> Option<Vec<StackName>> {
    let mut came_from: BTreeMap<&StackName, &StackName> = BTreeMap::new();
    let mut layer: Vec<&StackName> = vec![start];
    while !layer.is_empty() {
        let steps = layer
            .iter()
            .flat_map(|stack| knots.get(*stack).into_iter().flatten().map(|other| (*stack, other)));
        let mut next = Vec::new();
        for (stack, other) in steps {
            if other == start {
                return Some(way_back(start, stack, &came_from));
            }
            if !came_from.contains_key(other) {
                came_from.insert(other, stack);
                next.push(other);
            }
        }
        layer = next;
    }
    None
}

fn way_back(
    start: &StackName,
    end: &StackName,
    came_from: &BTreeMap<&StackName, &StackName>,
) -> Vec<StackName> {
    let mut way = vec![end.clone()];
    let mut current = end;
    while current != start {
        let Some(previous) = came_from.get(current) else { break };
        way.push((*previous).clone());
        current = previous;
    }
    way.reverse();
    way
}

/// Holds back each stack whose source, team or dependency is missing or held back, until all that is left is complete.
pub(super) fn hold_back_what_lacks_something(drafts: &mut Drafts) {
    loop {
        let names = Names::of(drafts);
        let lacking: Vec<Lack> =
            drafts.stacks.iter().filter_map(|(draft, _)| names.lack(drafts, draft)).collect();
        if lacking.is_empty() {
            return;
        }
        for lack in lacking {
            drafts.hold_back_stack(&lack.stack, &lack.path, lack.message);
        }
    }
}

/// What a stack lacks: the field that names it, and what to say.
struct Lack {
    stack: StackName,
    path: String,
    message: String,
}

/// What can be referred to.
struct Names {
    teams: BTreeSet<ObjectName>,
    sources: BTreeSet<SourceName>,
    stacks: BTreeSet<StackName>,
}

impl Names {
    fn of(drafts: &Drafts) -> Self {
        Self {
            teams: drafts.teams.iter().map(|team| team.name.clone()).collect(),
            sources: drafts.sources.iter().map(|(draft, _)| draft.name.clone()).collect(),
            stacks: drafts.stacks.iter().map(|(draft, _)| draft.name.clone()).collect(),
        }
    }

    fn lack(&self, drafts: &Drafts, draft: &StackDraft) -> Option<Lack> {
        let lack = |path: String, message: String| Some(Lack { stack: draft.name.clone(), path, message });
        let source = &draft.spec.source;
        if !self.sources.contains(source) {
            return lack("spec.sourceRef.name".to_owned(), self.of_source(drafts, &source.to_string()));
        }
        let unknown = |team: &&ObjectName| !self.teams.contains(*team);
        if let Some(team) = draft.spec.approval.iter().flat_map(ApprovalRules::teams).find(unknown) {
            let known: Vec<String> = self.teams.iter().map(ToString::to_string).collect();
            let name = team.to_string();
            return lack("spec.approval".to_owned(), messages::missing_team(&name, near(&name, &known)));
        }
        let missing = |dependency: &StackName| !self.stacks.contains(dependency);
        let index = draft.spec.depends_on.iter().position(missing)?;
        let path = format!("spec.dependsOn[{index}]");
        let message = self.of_dependency(drafts, &path, &draft.spec.depends_on.get(index)?.to_string());
        lack(path, message)
    }

    fn of_source(&self, drafts: &Drafts, name: &str) -> String {
        let known: Vec<String> = self.sources.iter().map(ToString::to_string).collect();
        held(drafts, &["GitRepository"], name).map_or_else(
            || messages::missing_source(name, near(name, &known)),
            |held| messages::held_source(name, &held.place),
        )
    }

    fn of_dependency(&self, drafts: &Drafts, path: &str, name: &str) -> String {
        let known: Vec<String> = self.stacks.iter().map(ToString::to_string).collect();
        held(drafts, &["Terraform", "Stack"], name).map_or_else(
            || messages::missing_dependency(path, name, near(name, &known)),
            |held| messages::held_dependency(path, name, &held.place),
        )
    }
}

fn held<'set>(drafts: &'set Drafts, kinds: &[&str], name: &str) -> Option<&'set HeldBack> {
    drafts
        .held_back
        .iter()
        .find(|held| kinds.contains(&held.kind.as_str()) && held.name.as_deref() == Some(name))
}

fn near<'name>(name: &str, known: &'name [String]) -> Option<&'name str> {
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    messages::nearest(name, &known)
}

impl Drafts {
    fn hold_back_stack(&mut self, name: &StackName, path: &str, message: String) {
        let Some((draft, _)) = self.stacks.iter().find(|(draft, _)| draft.name == *name) else { return };
        let place = at(draft, path);
        self.error(&place, message);
        self.drop_stack(name);
    }
}
