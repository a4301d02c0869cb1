//! The stacks of a tree: from its manifests, or from the root modules that are found.

use std::collections::{BTreeMap, BTreeSet};

use yuba_core::id::{SourceName, StackName};
use yuba_core::manifest::StackManifest;
use yuba_git::closure::StackPaths;

use super::discover::root_modules;
use super::survey::Survey;

/// Who says what the stacks are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Manifests, whose stacks have their code here if they are of one of these sources.
    Manifests(BTreeSet<SourceName>),
    /// Nobody: root modules are looked for.
    RootModules,
}

impl Origin {
    /// Manifests, where the code of at least one of their stacks lies in the same tree.
    ///
    /// Which of the sources is this repository cannot be told by its URL: clones have others. So one counts whose stack
    /// has its directory here.
    pub(super) fn of(survey: &Survey) -> Self {
        let here: BTreeSet<SourceName> = survey
            .manifests
            .stacks
            .iter()
            .filter(|stack| survey.modules.contains_key(&stack.spec.path))
            .map(|stack| stack.spec.source.clone())
            .collect();
        if here.is_empty() { Self::RootModules } else { Self::Manifests(here) }
    }
}

/// The stacks of one tree.
#[derive(Debug, Clone, Default)]
pub(super) struct Layout {
    /// What each stack's closure depends on.
    pub(super) paths: BTreeMap<StackName, StackPaths>,
    /// Its manifest, where it has one.
    pub(super) manifests: BTreeMap<StackName, StackManifest>,
}

impl Layout {
    pub(super) fn of(survey: &Survey, origin: &Origin) -> Self {
        match origin {
            Origin::Manifests(here) => {
                let stacks = survey.manifests.stacks.iter();
                let stacks: Vec<_> = stacks.filter(|stack| here.contains(&stack.spec.source)).collect();
                Self {
                    paths: stacks.iter().map(|stack| (stack.name.clone(), paths(stack))).collect(),
                    manifests: stacks.iter().map(|stack| (stack.name.clone(), (*stack).clone())).collect(),
                }
            }
            Origin::RootModules => {
                let named = |path: String| {
                    (StackName::new("", path.clone()), StackPaths { path, ..StackPaths::default() })
                };
                let paths = root_modules(&survey.modules).into_iter().map(named).collect();
                Self { paths, manifests: BTreeMap::new() }
            }
        }
    }
}

/// What people call a stack: its name, or its directory where no manifest names it.
pub(super) fn shown(name: &StackName) -> String {
    match (name.namespace.as_str(), name.name.as_str()) {
        ("", "") => ".".to_owned(),
        ("", path) => path.to_owned(),
        _ => name.to_string(),
    }
}

fn paths(stack: &StackManifest) -> StackPaths {
    StackPaths {
        path: stack.spec.path.clone(),
        tf_vars_files: stack.spec.tf_vars_files.clone(),
        triggers: stack.spec.triggers.clone(),
    }
}
