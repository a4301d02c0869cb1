//! Whether the stacks that a stack depends on are up to date.

use crate::id::StackName;
use crate::run::RunKind;
use crate::source::{Definition, Observation};
use crate::stack::Stack;

/// A stack that another depends on, as a decision sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// Its name.
    pub name: StackName,
    /// Why it is not up to date; `None` where it is.
    pub blocked_by: Option<String>,
}

/// Why a dependency is not up to date with what Git wants of it; `None` where it is. What it is doing is left out: who
/// depends on it is woken when it is done, and not at each of its steps, so that would soon be untrue.
pub fn dependency_blocked_by(
    stack: Option<&Stack>,
    definition: Option<&Definition>,
    observation: Option<&Observation>,
) -> Option<String> {
    if definition.is_some_and(|definition| definition.vanished.is_some()) {
        return Some("vanished from the manifests".to_owned());
    }
    let is_up_to_date = match (stack, definition, observation) {
        (Some(stack), Some(_), Some(observation)) => is_up_to_date(stack, observation),
        _ => false,
    };
    (!is_up_to_date).then(|| "is not ready yet".to_owned())
}

fn is_up_to_date(stack: &Stack, observation: &Observation) -> bool {
    let is_planned = stack.planned.as_ref().is_some_and(|planned| planned.closure == observation.closure);
    let owes_a_try = stack.retry.as_ref().is_some_and(|retry| retry.kind != RunKind::Drift);
    is_planned && stack.run.is_none() && !owes_a_try && is_settled(stack)
}

/// Whether the stack's last run for what is wanted ended well.
fn is_settled(stack: &Stack) -> bool {
    let applied = stack.applied.as_ref().map(|applied| &applied.wanted);
    applied == stack.planned.as_ref() || stack.shown.state == "planned"
}
