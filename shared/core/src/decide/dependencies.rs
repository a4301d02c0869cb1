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

/// Why a dependency is not up to date with what Git wants of it; `None` where it is.
pub fn dependency_blocked_by(
    stack: Option<&Stack>,
    definition: Option<&Definition>,
    observation: Option<&Observation>,
) -> Option<String> {
    let Some(stack) = stack else { return Some("is not known yet".to_owned()) };
    match definition {
        None => return Some("is not known yet".to_owned()),
        Some(definition) if definition.vanished.is_some() => {
            return Some("vanished from the manifests".to_owned());
        }
        Some(_) => {}
    }
    let Some(observation) = observation else { return Some("was not found in its source yet".to_owned()) };
    let Some(planned) = &stack.planned else { return Some("was not planned yet".to_owned()) };
    if planned.closure != observation.closure {
        return Some("is not updated yet".to_owned());
    }
    if stack.run.is_some() {
        return Some(format!("is not ready: {}", stack.shown.status));
    }
    match &stack.retry {
        Some(retry) if retry.kind != RunKind::Drift => Some(format!("is not ready: {}", stack.shown.status)),
        _ if is_settled(stack) => None,
        _ => Some(format!("is not ready: {}", stack.shown.status)),
    }
}

/// Whether the stack's last run for what is wanted ended well.
fn is_settled(stack: &Stack) -> bool {
    let applied = stack.applied.as_ref().map(|applied| &applied.wanted);
    applied == stack.planned.as_ref() || stack.shown.state == "planned"
}
