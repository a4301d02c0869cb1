//! Teams, as the manifests name them. Written by `source`; they bind at once, for every stack.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Identity;
use crate::id::{ManifestSetName, ObjectName};
use crate::record::{Key, Record};

/// People who may decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    /// Its name.
    pub name: ObjectName,
    /// The set of manifests that holds it.
    pub set: ManifestSetName,
    /// The set's snapshot it was taken from.
    pub snapshot: u64,
    /// Where it stands: `flux/teams.yaml:12`.
    pub place: String,
    /// Who belongs to it.
    pub members: Vec<Member>,
}

impl Record for Team {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::team(&self.name)
    }
}

/// Somebody who belongs to a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// What people call them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The names under which services know them.
    pub identities: BTreeSet<Identity>,
}

/// Counts the changes of teams, so that a decision can demand that none came in between.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roster {
    /// How many there were.
    pub changes: u64,
}

impl Record for Roster {
    const SCHEMA: u32 = 1;
    fn key(&self) -> Key {
        Key::roster()
    }
}
