//! Two stacks with one state: neither is applied, and nothing of the state is destroyed.

use super::draft::Draft;
use super::requests::Refusal;
use crate::event::EventKind;
use crate::run::RunKind;
use crate::state_address::{SameState, StateAddress};

impl Draft {
    /// Publishes that another stack came to name the same state, or that none does any more.
    pub(super) fn notice_same_state(&mut self) {
        let (before, now) =
            (self.stack.shares_state_with.clone(), self.sharer().map(|other| other.name.clone()));
        if before == now {
            return;
        }
        match (self.shared_state_sentence(), before) {
            (Some(sentence), _) => self.publish(EventKind::StateShared, sentence),
            (None, Some(other)) => {
                self.publish(
                    EventKind::StateFreed,
                    format!("{other} does not name the same state any more."),
                );
            }
            (None, None) => {}
        }
        self.stack.shares_state_with = now;
    }

    /// Why nothing is applied, where another stack names the same state.
    pub(super) fn shared_state_sentence(&self) -> Option<String> {
        let SameState { name, place, address } = self.sharer()?;
        let address = address.place()?;
        Some(format!("Two stacks with one state: {name} ({place}) names {address} too; neither is applied"))
    }

    /// The same for the current run. A destruction is held back also where the other may name the same state.
    pub(super) fn held_back_by_state(&self) -> Option<String> {
        let destroys = self.run.as_ref().is_some_and(|run| run.kind == RunKind::Destroy);
        let perhaps = self.same_state.as_ref().filter(|_| destroys).map(destruction);
        self.shared_state_sentence().or(perhaps)
    }

    /// A destruction is refused while another stack names the same state, or may.
    pub(super) fn refuse_shared_state(&self) -> Result<(), Refusal> {
        self.same_state.as_ref().map_or(Ok(()), |other| Err(Refusal(destruction(other))))
    }

    /// Another stack that names the same state for certain, while the manifests name this one.
    fn sharer(&self) -> Option<&SameState> {
        let stands = self.definition.as_ref().is_some_and(|definition| definition.vanished.is_none());
        self.same_state.as_ref().filter(|other| stands && other.address.place().is_some())
    }
}

fn destruction(SameState { name, place, address }: &SameState) -> String {
    let what = match address {
        StateAddress::At(address) => format!("names the same state, {address}"),
        StateAddress::Own | StateAddress::Perhaps(_) => {
            "has the same code, workspace and backend, so perhaps the same state".to_owned()
        }
    };
    format!("{name} ({place}) {what}: destroying it would destroy what {name} manages")
}
