//! Incidents: what is wrong with a stack, for services that keep something open until it is right again.
//!
//! An alert chooses the event that says what is wrong. The one that says it is over is told to the same provider whatever
//! the alert's severity and patterns are: an incident that was opened is closed.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::event::EventKind;
use crate::id::{ObjectName, StackId};
use crate::record::{Index, IndexEntry, Key, Record};
use crate::time::{Span, Timestamp};

/// How long an incident is remembered whose end nobody saw.
const KEPT: Span = Span::hours(400 * 24);

/// What is wrong: of each there is one incident of a stack at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IncidentCause {
    /// A run, or what was to follow from it, failed.
    Run,
    /// Reality differs from what was applied.
    Drift,
    /// The stack's document is faulty.
    Manifest,
    /// Another stack names its state.
    State,
}

impl IncidentCause {
    /// What an event says to be wrong. What waits for a person is no incident.
    pub fn opened_by(kind: EventKind) -> Option<Self> {
        match kind {
            EventKind::RunFailed | EventKind::RetriesPaused | EventKind::EffectFailed => Some(Self::Run),
            EventKind::DriftDetected | EventKind::DriftEscalated => Some(Self::Drift),
            EventKind::ManifestFaulty => Some(Self::Manifest),
            EventKind::StateShared => Some(Self::State),
            _ => None,
        }
    }

    /// What an event says to be over.
    pub fn closed_by(kind: EventKind) -> Option<Self> {
        match kind {
            EventKind::RunApplied
            | EventKind::RunUnchanged
            | EventKind::RunPlanned
            | EventKind::StackRecovered => Some(Self::Run),
            EventKind::DriftResolved => Some(Self::Drift),
            EventKind::ManifestMended => Some(Self::Manifest),
            EventKind::StateFreed => Some(Self::State),
            _ => None,
        }
    }

    /// Its name: `drift`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Drift => "drift",
            Self::Manifest => "manifest",
            Self::State => "state",
        }
    }

    /// What names the incident at a service: equal for the same cause of the same stack, `yuba-<stack id>-drift`.
    pub fn key(self, stack: StackId) -> String {
        format!("yuba-{stack}-{self}")
    }
}

impl fmt::Display for IncidentCause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// That a provider was told of something wrong, and not yet of its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// The provider.
    pub provider: ObjectName,
    /// The stack.
    pub stack: StackId,
    /// What is wrong.
    pub cause: IncidentCause,
    /// The number of the last event that said so.
    pub event: u64,
    /// The alert that chose it.
    pub alert: ObjectName,
    /// What the alert says with every message.
    pub metadata: BTreeMap<String, String>,
    /// When it was told last.
    pub at: Timestamp,
}

impl Incident {
    /// Where it lies.
    pub fn key_of(stack: StackId, cause: IncidentCause, provider: &ObjectName) -> Key {
        Key::new(incidents_partition(stack), format!("{cause}#{provider}"))
    }
}

/// The partition of the incidents of a stack.
pub fn incidents_partition(stack: StackId) -> String {
    format!("incidents#{stack}")
}

impl Record for Incident {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Self::key_of(self.stack, self.cause, &self.provider)
    }
    fn indexes(&self) -> Vec<IndexEntry> {
        vec![IndexEntry::at(Index::Expires, self.at + KEPT)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::EventSeverity;

    #[test]
    fn what_is_wrong_opens_an_incident_and_only_its_end_closes_it() {
        for kind in EventKind::ALL {
            let (opens, closes) = (IncidentCause::opened_by(kind), IncidentCause::closed_by(kind));
            assert!(opens.is_none() || closes.is_none(), "{kind:?}");
            let is_wrong = kind.severity() >= EventSeverity::Error;
            assert_eq!(opens.is_some(), is_wrong, "{kind:?}");
            if closes.is_some() {
                assert_eq!(kind.severity(), EventSeverity::Info, "{kind:?}");
            }
        }
        let every = [IncidentCause::Run, IncidentCause::Drift, IncidentCause::Manifest, IncidentCause::State];
        for cause in every {
            assert!(EventKind::ALL.into_iter().any(|kind| IncidentCause::closed_by(kind) == Some(cause)));
        }
    }

    #[test]
    fn an_incident_goes_by_its_stack_and_cause() {
        use ulid::Ulid;
        assert_eq!(IncidentCause::Drift.key(StackId(Ulid(1))), "yuba-00000000000000000000000001-drift");
    }
}
