//! A new name that may be a vanished stack's, where the installation keeps the state of both: under each one's id, so
//! their addresses say nothing. Such a stack waits at its first plan until somebody says which it is.
//!
//! A state is handed over by swapping the ids that two states are kept under, in one commit: the new stack goes on under
//! the state of the old one, and that has an empty one. At no time does a state belong to two stacks or to none.

use super::draft::Draft;
use super::requests::Refusal;
use crate::id::{StackId, StackName};
use crate::run::RunKind;
use crate::source::{Definition, Observation};
use crate::stack::{HandedTo, Ready, Shown, Stack};
use crate::state_address::{StateAddress, known_address};
use crate::time::Timestamp;

/// A stack that another may be under a new name.
#[derive(Debug, Clone, PartialEq)]
pub struct Former {
    /// Its record.
    pub stack: Stack,
    /// What the manifests said of it last.
    pub definition: Definition,
    /// The installation keeps its state.
    pub is_kept: bool,
}

impl Former {
    /// By its records.
    pub fn new(stack: Stack, definition: Definition, seen: Option<&Observation>) -> Self {
        let is_kept = known_address(&definition.spec, seen) == StateAddress::Own;
        Self { stack, definition, is_kept }
    }

    /// Whether it vanished and left a state behind that the installation keeps.
    fn is_left(&self) -> bool {
        self.is_kept && self.definition.vanished.is_some() && self.stack.may_hold()
    }

    /// Why its state cannot be handed over now, and what to do.
    fn refusal(&self, workspace: &str) -> Option<String> {
        let Definition { name, place, spec, .. } = &self.definition;
        if self.definition.vanished.is_none() {
            return Some(format!("{name} is in the manifests ({place}), so its state is its own"));
        }
        if !self.is_kept {
            return Some(format!("{name} names a backend: name the same one, and its state is found there"));
        }
        if spec.workspace != workspace {
            let used = &spec.workspace;
            return Some(format!(
                "the state of {name} is that of workspace {used}, and {workspace} is used here"
            ));
        }
        if !self.stack.may_hold() {
            return Some(format!("the state of {name} is empty: say --new"));
        }
        let asked = self.stack.asked.as_ref().is_some_and(|asked| asked.kind == RunKind::Destroy);
        if self.stack.run.is_some() || asked {
            return Some(format!("a run of {name} is under way: wait for it, or say `yuba cancel {name}`"));
        }
        let unsaved = self.stack.retry.as_ref().is_some_and(|retry| retry.unsaved);
        unsaved.then(|| {
            format!(
                "an apply of {name} left a state behind that was not saved: put its manifest back and say `yuba recover {name}`"
            )
        })
    }
}

impl Draft {
    /// The names of the stacks that this one may be under a new name.
    pub(super) fn perhaps_renamed_from(&self) -> Vec<StackName> {
        let may_be = self.definition.iter().flat_map(|definition| &definition.may_be);
        let handed_to = self.stack.handed_to.as_ref().map(|handed| &handed.stack);
        let ids: Vec<&StackId> = may_be.chain(handed_to).collect();
        let meant = self.formers.iter().filter(|former| ids.contains(&&former.stack.id) && former.is_left());
        meant.map(|former| former.definition.name.clone()).collect()
    }

    /// What is asked of people while the first plan waits for a word on its state.
    pub(super) fn adoption_sentence(&self) -> String {
        let formers = self.perhaps_renamed_from();
        let listed = |by: &str| formers.iter().map(ToString::to_string).collect::<Vec<_>>().join(by);
        if formers.is_empty() {
            return "First plan waits: no backend is named and no state is here; say `yuba adopt` (--new, --state FILE or \
                    --from STACK)"
                .to_owned();
        }
        format!(
            "First plan waits: it may be {} under a new name, which vanished from the manifests and left a state here; say \
             `yuba adopt {} --from {}`, or `--new` if it is another stack",
            listed(" or "),
            self.stack.name,
            listed(" or --from ")
        )
    }

    /// Takes over the state of a stack that vanished; the name of that.
    pub(super) fn take_state_of(&mut self, id: StackId) -> Result<StackName, Refusal> {
        let workspace = self.definition.as_ref().map(|definition| definition.spec.workspace.as_str());
        let former = self.formers.iter().find(|former| former.stack.id == id && id != self.stack.id);
        let (Some(former), Some(workspace)) = (former, workspace) else {
            return Err(Refusal("--from names no other stack".to_owned()));
        };
        if let Some(why) = former.refusal(workspace) {
            return Err(Refusal(why));
        }
        let name = former.definition.name.clone();
        let vanished = former.definition.vanished.unwrap_or(self.now);
        let (mut old, mine) = (former.stack.clone(), self.stack.state_id());
        self.stack.state_kept_as = Some(old.state_id()).filter(|id| *id != self.stack.id);
        old.state_kept_as = Some(mine).filter(|id| *id != old.id);
        let new = HandedTo { stack: self.stack.id, name: self.stack.name.clone() };
        self.taken_over = Some(without_state(old, new, (vanished, self.now)));
        self.stack.holds_resources = true;
        Ok(name)
    }

    /// Whether another stack goes on under the state that this one had, and nothing began under this name since.
    pub(super) fn is_handed_over(&self) -> bool {
        self.stack.handed_to.is_some() && !self.stack.may_hold()
    }

    /// There is nothing left to destroy.
    pub(super) fn refuse_handed_over(&self) -> Result<(), Refusal> {
        match self.stack.handed_to.as_ref().filter(|_| self.is_handed_over()) {
            Some(to) => Err(Refusal(format!(
                "its state was handed over to {0}: nothing is left here to destroy; `yuba destroy {0}` destroys what it held",
                to.name
            ))),
            None => Ok(()),
        }
    }
}

/// A stack that has nothing any more but its name and its past.
fn without_state(old: Stack, to: HandedTo, (vanished, now): (Timestamp, Timestamp)) -> Stack {
    let status =
        format!("Vanished from the manifests at {vanished}; its state was handed over to {}", to.name);
    let shown = Shown { ready: Ready::Unknown, state: old.shown.state.clone(), status };
    Stack {
        handed_to: Some(to),
        holds_resources: false,
        planned: None,
        applied: None,
        adopted: None,
        checked_at: None,
        drift: None,
        remediated: None,
        retry: None,
        asked: None,
        outputs_written: None,
        backend_first: Vec::new(),
        settled: shown.clone(),
        shown,
        updated_at: now,
        ..old
    }
}
