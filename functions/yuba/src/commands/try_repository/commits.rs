//! What each of the last commits would have touched, and why.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use yuba_core::id::{CommitId, StackName, TreeId};
use yuba_core::manifest::StackManifest;
use yuba_core::spec::StackSpec;
use yuba_git::closure::{Closures, Index};
use yuba_git::history::PathChange;
use yuba_git::{Commit, Repository};

use super::layout::{Layout, Origin, shown};
use super::survey::Surveyor;

/// A commit, and what it would have touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommitSeen {
    /// Its id.
    pub(crate) id: CommitId,
    /// The first line of its message.
    pub(crate) subject: String,
    /// What it would have done.
    pub(crate) effect: Effect,
}

/// What a commit would have done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Effect {
    /// These stacks would have been planned, by name.
    Touched(Vec<Touched>),
    /// None: its files belong to no stack. Empty where it changes none.
    Nothing(Vec<PathChange>),
    /// None of those that were asked about; so many others.
    Others(usize),
    /// None, and there is no commit before it.
    NothingFirst,
    /// It cannot be told: its parent is not in this clone.
    Unknown,
}

/// A stack that a commit would have touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Touched {
    /// Its name.
    pub(crate) stack: String,
    /// Why.
    pub(crate) reasons: Vec<String>,
}

/// The stacks of a tree and what belongs to each.
#[derive(Debug, Clone)]
pub(super) struct Standing {
    pub(super) layout: Layout,
    pub(super) closures: Closures,
}

/// Works out standings, each tree once.
pub(super) struct Historian<'a> {
    pub(super) repository: &'a Repository,
    pub(super) surveyor: Surveyor<'a>,
    pub(super) origin: Origin,
    index: Index,
    known: BTreeMap<TreeId, Standing>,
}

impl<'a> Historian<'a> {
    pub(super) fn new(repository: &'a Repository, surveyor: Surveyor<'a>, origin: Origin) -> Self {
        Self { repository, surveyor, origin, index: Index::new(), known: BTreeMap::new() }
    }

    /// The stacks of a tree.
    pub(super) fn standing(&mut self, tree: &TreeId) -> anyhow::Result<Standing> {
        if let Some(known) = self.known.get(tree) {
            return Ok(known.clone());
        }
        let layout = Layout::of(&self.surveyor.survey(tree)?, &self.origin);
        let closures = self.index.closures(self.repository, tree, &layout.paths)?;
        let standing = Standing { layout, closures };
        self.known.insert(tree.clone(), standing.clone());
        Ok(standing)
    }

    /// The last commits, newest first, with what those in scope would have been touched by.
    pub(super) fn commits(
        &mut self,
        head: &CommitId,
        count: usize,
        in_scope: impl Fn(&str) -> bool,
    ) -> anyhow::Result<Vec<CommitSeen>> {
        let commits = self.repository.last_commits(head, count)?;
        let mut seen = Vec::new();
        for commit in commits {
            let effect = self.effect(&commit, &in_scope).with_context(|| format!("commit {}", commit.id))?;
            seen.push(CommitSeen { id: commit.id, subject: commit.subject, effect });
        }
        Ok(seen)
    }

    fn effect(&mut self, commit: &Commit, in_scope: &dyn Fn(&str) -> bool) -> anyhow::Result<Effect> {
        let new = self.standing(&commit.tree)?;
        let (old, changed) = match commit.parents.first() {
            None => (nothing(&commit.tree), Vec::new()),
            Some(parent) => {
                let Ok(parent) = self.repository.commit(parent) else { return Ok(Effect::Unknown) };
                let changed = self.repository.changed_paths(&parent.tree, &commit.tree)?;
                (self.standing(&parent.tree)?, changed)
            }
        };
        let all = touched(self.repository, &old, &new)?;
        let others = all.len();
        let asked = all.into_iter().filter(|(paths, _)| paths.iter().any(|path| in_scope(path)));
        let touched: Vec<Touched> = asked.map(|(_, touched)| touched).collect();
        Ok(if !touched.is_empty() {
            Effect::Touched(touched)
        } else if others > 0 {
            Effect::Others(others)
        } else if commit.parents.is_empty() {
            Effect::NothingFirst
        } else {
            Effect::Nothing(changed)
        })
    }
}

/// What was there before the first commit.
fn nothing(tree: &TreeId) -> Standing {
    let closures = Closures { tree: tree.clone(), by_stack: BTreeMap::new() };
    Standing { layout: Layout::default(), closures }
}

/// The stacks that a commit touched, each with its directories before and after.
fn touched(
    repository: &Repository,
    old: &Standing,
    new: &Standing,
) -> anyhow::Result<Vec<(Vec<String>, Touched)>> {
    let paths = Index::affected(repository, &old.closures, &new.closures)?;
    let names: BTreeSet<&StackName> = old.layout.paths.keys().chain(new.layout.paths.keys()).collect();
    let mut touched = Vec::new();
    for name in names {
        let places = [&old.layout, &new.layout].map(|layout| layout.paths.get(name));
        let reasons = match places {
            [None, Some(_)] => vec![came(&new.layout, name)],
            [Some(_), None] => vec![went(&old.layout, name)],
            _ => {
                let inputs = changed_inputs(old.layout.manifests.get(name), new.layout.manifests.get(name));
                let paths = paths.get(name).into_iter().flatten().map(ToString::to_string);
                inputs.into_iter().chain(paths).collect()
            }
        };
        if !reasons.is_empty() {
            let directories = places.iter().flatten().map(|stack| stack.path.clone()).collect();
            touched.push((directories, Touched { stack: shown(name), reasons }));
        }
    }
    Ok(touched)
}

fn came(layout: &Layout, name: &StackName) -> String {
    match layout.manifests.get(name) {
        Some(manifest) => format!("the stack is new: {}", manifest.place.file),
        None => "the root module is new".to_owned(),
    }
}

fn went(layout: &Layout, name: &StackName) -> String {
    match layout.manifests.get(name) {
        Some(manifest) => {
            format!("the stack is gone from {}; it would be kept and reported", manifest.place.file)
        }
        None => "the root module is gone; what it manages would be kept and reported".to_owned(),
    }
}

type Same = fn(&StackSpec, &StackSpec) -> bool;

/// Settings that are inputs of a plan and differ. `approvePlan` and the like are none.
fn changed_inputs(old: Option<&StackManifest>, new: Option<&StackManifest>) -> Option<String> {
    let (old, new) = (old?, new?);
    let inputs: [(&str, Same); 10] = [
        ("path", |old, new| old.path == new.path),
        ("sourceRef", |old, new| old.source == new.source),
        ("vars", |old, new| old.vars == new.vars),
        ("varsFrom", |old, new| old.vars_from == new.vars_from),
        ("tfVarsFiles", |old, new| old.tf_vars_files == new.tf_vars_files),
        ("backendConfig", |old, new| old.backend == new.backend),
        ("workspace", |old, new| old.workspace == new.workspace),
        ("engine", |old, new| old.engine == new.engine),
        ("destroy", |old, new| old.destroy == new.destroy),
        ("roles", |old, new| old.roles == new.roles),
    ];
    let changed = inputs.iter().filter(|(_, same)| !same(&old.spec, &new.spec));
    let changed: Vec<&str> = changed.map(|(name, _)| *name).collect();
    (!changed.is_empty()).then(|| format!("{} modified ({})", new.place.file, changed.join(", ")))
}
