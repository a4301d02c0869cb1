//! What documents owe each other: unique names, sources and stacks that exist, no cycles, a state of one's own.

use std::collections::BTreeMap;

use super::document::Identity;
use super::finding::{Finding, Place, Severity};
use super::messages;
use super::references;
use super::set::{Drafts, is_restriction};
use super::stack::StackDraft;
use crate::id::{ObjectName, StackName};
use crate::spec::{ApprovePlan, ValuesKind};
use crate::state_address::{CodeBackend, state_address};
use crate::time::Span;

/// Makes all checks, and holds back what fails one.
pub(super) fn all(drafts: &mut Drafts) {
    hold_back_twins(drafts);
    give_roles(drafts);
    references::hold_back_cycles(drafts);
    hold_back_shared_states(drafts);
    references::hold_back_what_lacks_something(drafts);
    pass_on_what_sources_lack(drafts);
    warn_of_shared_paths(drafts);
    warn_of_haste(drafts);
    warn_of_missing_values(drafts);
}

/// Two documents with one name: nobody can say which is meant.
fn hold_back_twins(drafts: &mut Drafts) {
    let mut first: BTreeMap<(String, String), Place> = BTreeMap::new();
    let mut twins: Vec<(Identity, Place, Place)> = Vec::new();
    for (identity, place) in &drafts.identities {
        let Some(name) = identity.full_name() else { continue };
        // `Terraform` and `Stack` are one kind by two names.
        let kind = if identity.kind == "Terraform" { "Stack" } else { &identity.kind };
        match first.get(&(kind.to_owned(), name.clone())) {
            Some(earlier) => twins.push((identity.clone(), earlier.clone(), place.clone())),
            None => {
                first.insert((kind.to_owned(), name), place.clone());
            }
        }
    }
    for (identity, earlier, later) in twins {
        let name = identity.full_name().unwrap_or_default();
        drafts.error(&later, messages::twice(&identity.kind, &name, &earlier));
        if is_restriction(&identity.kind) {
            drafts.hold_back_all(&identity.kind, &later);
        }
        for place in [earlier, later] {
            drafts.drop_at(&place);
            drafts.hold_back(&identity.kind, Some(name.clone()), &place);
        }
    }
}

/// A stack without roles of its own runs under that of its service account.
fn give_roles(drafts: &mut Drafts) {
    let mut warnings = Vec::new();
    for (draft, _) in &mut drafts.stacks {
        let named = draft.spec.roles.service_account.clone();
        let account =
            ObjectName::new(draft.name.namespace.clone(), named.clone().unwrap_or("tf-runner".to_owned()));
        let known = drafts.accounts.get(&account);
        let needed = draft.spec.roles.plan.is_none() || draft.spec.roles.apply.is_none();
        match (known, &named) {
            (Some(Some(role)), _) => {
                let roles = &mut draft.spec.roles;
                roles.plan.get_or_insert_with(|| role.clone());
                roles.apply.get_or_insert_with(|| role.clone());
                roles.service_account.get_or_insert(account.name);
            }
            (Some(None), Some(name)) if needed => {
                warnings.push((at(draft, FIELD), messages::account_without_role(name)));
            }
            (None, Some(name)) if needed => {
                warnings.push((at(draft, FIELD), messages::unknown_service_account(name)));
            }
            _ => {}
        }
    }
    for (place, message) in warnings {
        drafts.warn(place, message);
    }
}

const FIELD: &str = "spec.serviceAccountName";

/// Where a field of a stack stands.
pub(super) fn at(draft: &StackDraft, path: &str) -> Place {
    draft.root.spot_of(path).in_file(&draft.file)
}

/// Two stacks with one state would each destroy what the other made.
fn hold_back_shared_states(drafts: &mut Drafts) {
    let mut owners: BTreeMap<String, Vec<(StackName, Place)>> = BTreeMap::new();
    for (draft, _) in &drafts.stacks {
        let address = state_address(&draft.spec, &CodeBackend::Unseen);
        if let Some(address) = address.place() {
            let owner = (draft.name.clone(), at(draft, "spec.backendConfig"));
            owners.entry(address.to_owned()).or_default().push(owner);
        }
    }
    for (address, owners) in owners.iter().filter(|(_, owners)| owners.len() > 1) {
        for (name, place) in owners {
            let other = owners.iter().find(|(other, _)| other != name);
            let Some((other, elsewhere)) = other else { continue };
            drafts.error(place, messages::same_state(&other.to_string(), elsewhere, address));
            drafts.drop_stack(name);
        }
    }
}

/// What a source cannot do yet and that matters, its stacks cannot do either.
fn pass_on_what_sources_lack(drafts: &mut Drafts) {
    for (draft, _) in &mut drafts.stacks {
        let source = drafts.sources.iter().find(|(source, _)| source.name == draft.spec.source);
        if let Some((source, _)) = source {
            draft.spec.not_applied.extend(source.not_applied.iter().cloned());
        }
    }
}

/// Same source, path and workspace, and not both name a backend: the code may name one for both.
fn warn_of_shared_paths(drafts: &mut Drafts) {
    let mut first: BTreeMap<(String, &str, &str), &(StackDraft, Place)> = BTreeMap::new();
    let mut warnings = Vec::new();
    for stack in &drafts.stacks {
        let (draft, _) = stack;
        let key = (draft.spec.source.to_string(), draft.spec.path.as_str(), draft.spec.workspace.as_str());
        let Some((other, place)) = first.get(&key) else {
            first.insert(key, stack);
            continue;
        };
        if draft.backend.is_none() || other.backend.is_none() {
            let message = messages::perhaps_same_state(&other.name.to_string(), place);
            warnings.push((at(draft, "spec.path"), message));
        }
    }
    for (place, message) in warnings {
        drafts.warn(place, message);
    }
}

fn warn_of_haste(drafts: &mut Drafts) {
    let hasty = |draft: &StackDraft| {
        let spec = &draft.spec;
        spec.interval < Span::minutes(30)
            && spec.approve_plan == ApprovePlan::Auto
            && spec.is_production(&draft.name)
    };
    let warnings: Vec<(Place, String)> = drafts
        .stacks
        .iter()
        .filter(|(draft, _)| hasty(draft))
        .map(|(draft, _)| {
            (at(draft, "spec.interval"), messages::hasty_production(&draft.spec.interval.to_string()))
        })
        .collect();
    for (place, message) in warnings {
        drafts.warn(place, message);
    }
}

fn warn_of_missing_values(drafts: &mut Drafts) {
    let mut warnings = Vec::new();
    for (draft, _) in &drafts.stacks {
        for (index, from) in draft.spec.vars_from.iter().enumerate() {
            let known = drafts.config_maps.iter().any(|map| map.name == from.name);
            if from.kind == ValuesKind::ConfigMap && !from.optional && !known {
                let path = format!("spec.varsFrom[{index}]");
                warnings
                    .push((at(draft, &path), messages::missing_config_map(&path, &from.name.to_string())));
            }
        }
    }
    for (provider, place) in &drafts.wanted_providers {
        if drafts.providers.iter().all(|known| known.name != *provider) {
            warnings.push((place.clone(), messages::missing_provider(&provider.to_string())));
        }
    }
    for (place, message) in warnings {
        drafts.warn(place, message);
    }
}

impl Drafts {
    pub(super) fn error(&mut self, place: &Place, message: String) {
        self.findings.push(Finding { severity: Severity::Error, place: place.clone(), message });
    }

    fn warn(&mut self, place: Place, message: String) {
        self.findings.push(Finding { severity: Severity::Warning, place, message });
    }

    /// Takes away what was read at a place.
    fn drop_at(&mut self, place: &Place) {
        self.stacks.retain(|(_, at)| at != place);
        self.sources.retain(|(_, at)| at != place);
        self.config_maps.retain(|map| map.place != *place);
        self.providers.retain(|provider| provider.place != *place);
        self.alerts.retain(|alert| alert.place != *place);
        self.teams.retain(|team| team.place != *place);
        self.freezes.retain(|freeze| freeze.place != *place);
    }

    pub(super) fn drop_stack(&mut self, name: &StackName) {
        let Some(index) = self.stacks.iter().position(|(draft, _)| draft.name == *name) else { return };
        let (draft, place) = self.stacks.remove(index);
        let kind = draft.root.text("kind").unwrap_or("Stack").to_owned();
        self.hold_back(&kind, Some(name.to_string()), &place);
    }
}
