//! What a look means for one stack: pure.

use std::collections::BTreeMap;

use yuba_core::id::StackName;
use yuba_core::source::{Observation, Reason};
use yuba_core::state_address::CodeBackend;
use yuba_core::time::Timestamp;
use yuba_ports::records::Versioned;

use super::fan_out::Look;
use super::stacks::StackThere;
use crate::git::fetcher::shown;
use crate::git::{SeenClosure, Worked};

/// How many reasons an observation holds.
const MOST_REASONS: usize = 20;

/// Everything that a look has found out.
pub(super) struct Seeing<'a> {
    pub(super) look: &'a Look<'a>,
    pub(super) worked: &'a Worked,
    /// The backends that code names, of stacks whose code may say something else now.
    pub(super) backends: BTreeMap<StackName, CodeBackend>,
    pub(super) at: Timestamp,
}

/// What is to be done about a stack.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// Nothing.
    Unchanged,
    /// A look that was cut wrote this observation, and may not have woken the stack.
    WakeAgain(u64),
    /// A new observation.
    Observe(Box<Versioned<Observation>>),
}

impl Seeing<'_> {
    /// Whether the stack may need the tree's artifact: its closure differs, or something was wrong and may be mended.
    pub(super) fn needs_artifact(&self, name: &StackName, stack: &StackThere) -> bool {
        let Some(closure) = self.worked.closures.get(name) else { return false };
        stack
            .observation
            .as_ref()
            .is_none_or(|seen| seen.closure != closure.digest || !seen.problems.is_empty())
    }

    /// Whether the stack's code may name another backend than was observed.
    pub(super) fn needs_code(&self, name: &StackName, stack: &StackThere) -> bool {
        let known = stack.observation.as_ref();
        let known = known.is_some_and(|seen| !seen.backend.is_unseen() && has_path(seen, stack));
        !known || self.needs_artifact(name, stack)
    }

    /// The backend that the stack's code names. While that cannot be read, the state lies where it lay.
    fn backend(&self, stack: &StackThere) -> CodeBackend {
        let read = self.backends.get(&stack.definition.name).filter(|read| !read.is_unseen());
        let seen = stack.observation.as_ref().filter(|seen| has_path(seen, stack));
        read.or(seen.map(|seen| &seen.backend)).cloned().unwrap_or_default()
    }
}

/// Compares a stack's closure with the one that was observed before.
pub(super) fn judge(seeing: &Seeing<'_>, name: &StackName, stack: &StackThere) -> Verdict {
    let Look { source, number, .. } = seeing.look;
    let closure = seeing.worked.closures.get(name);
    let Some(before) = &stack.observation else {
        return closure.map_or(Verdict::Unchanged, |closure| {
            Verdict::Observe(Box::new(Versioned::new(observation(seeing, stack, closure))))
        });
    };
    if before.number >= *number && before.source == source.name {
        return Verdict::Unchanged;
    }
    if let Some(closure) = closure
        && (before.closure != closure.digest
            || before.source != source.name
            || (seeing.needs_artifact(name, stack) && before.problems != closure.problems))
    {
        return Verdict::Observe(Box::new(before.clone().with(observation(seeing, stack, closure))));
    }
    if !has_path(before, stack) || before.backend != seeing.backend(stack) {
        let (problems, notices) = (before.problems.clone(), before.notices.clone());
        let closure = SeenClosure { digest: before.closure, problems, notices };
        return Verdict::Observe(Box::new(before.clone().with(observation(seeing, stack, &closure))));
    }
    let completed = source.seen.as_ref().map_or(0, |seen| seen.observation);
    if before.number > completed { Verdict::WakeAgain(before.number) } else { Verdict::Unchanged }
}

/// Whether an observation is of the directory that the stack has now.
fn has_path(seen: &Observation, stack: &StackThere) -> bool {
    seen.path.as_ref() == Some(&stack.definition.spec.path)
}

fn observation(seeing: &Seeing<'_>, stack: &StackThere, closure: &SeenClosure) -> Observation {
    let Look { source, fetched, number, .. } = seeing.look;
    let mut changed = reasons(seeing, stack, closure);
    let changed_count = u32::try_from(changed.len()).unwrap_or(u32::MAX);
    changed.truncate(MOST_REASONS);
    Observation {
        stack: stack.id,
        source: source.name.clone(),
        number: *number,
        revision: fetched.revision().clone(),
        tree: fetched.tree().clone(),
        closure: closure.digest,
        path: Some(stack.definition.spec.path.clone()),
        backend: seeing.backend(stack),
        changed,
        changed_count,
        problems: closure.problems.clone(),
        notices: closure.notices.clone(),
        commit: fetched.commit(),
        brought: Vec::new(),
        at: seeing.at,
    }
}

/// Why a stack's closure differs from the one observed before.
fn reasons(seeing: &Seeing<'_>, stack: &StackThere, closure: &SeenClosure) -> Vec<Reason> {
    let Some(before) = &stack.observation else { return vec![Reason::First] };
    if before.source != seeing.look.source.name {
        return vec![Reason::Settings];
    }
    let Some(changed) = &seeing.worked.changed else {
        let path = shown(&stack.definition.spec.path);
        let because = "the revision before is no longer at hand to compare with".to_owned();
        return vec![Reason::Path { path, change: "changed".to_owned(), because }];
    };
    match changed.get(&stack.definition.name) {
        Some(reasons) if !reasons.is_empty() => reasons.clone(),
        // The tree is the same for the stack, so it is its settings that reach for something else.
        _ if before.closure != closure.digest => vec![Reason::Settings],
        _ => Vec::new(),
    }
}
