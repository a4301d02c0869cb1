//! Takes the teams of a set over, before its stacks: they bind at once, for stacks of all sets.

use std::collections::BTreeMap;

use yuba_core::id::ObjectName;
use yuba_core::manifest::TeamManifest;
use yuba_core::people::{Roster, Team};
use yuba_core::record::{Key, TEAMS};
use yuba_ports::records::{Versioned, load, page};
use yuba_ports::{Committed, Order, PortError, Query, Write};

use super::{Taking, overtaken};

/// How many teams are written at once, and read.
const PAGE: usize = 50;

impl Taking<'_> {
    /// Writes those that changed, and deletes those that are gone.
    pub(super) async fn take_teams(&mut self) -> Result<(), PortError> {
        let known = self.known_teams().await?;
        let mut writes = Vec::new();
        for manifest in self.set.teams.clone() {
            match known.get(&manifest.name) {
                Some(before) if before.set != self.record.name => self.findings.push(format!(
                    "{}: error: team {} is defined in {} already; it is held back here",
                    manifest.place, manifest.name, before.set
                )),
                before => writes.extend(self.changed_team(before, manifest)?),
            }
        }
        let here = |name: &ObjectName| self.set.teams.iter().any(|manifest| manifest.name == *name);
        let own = |team: &Team| team.set == self.record.name && team.snapshot <= self.snapshot;
        for gone in known.values().filter(|team| own(team) && !here(&team.name)) {
            writes.push(Write::Delete { key: Key::team(&gone.name), expected: gone.expected() });
        }
        for batch in writes.chunks(PAGE) {
            self.write_teams(batch).await?;
        }
        Ok(())
    }

    fn changed_team(
        &self,
        before: Option<&Versioned<Team>>,
        manifest: TeamManifest,
    ) -> Result<Option<Write>, PortError> {
        let TeamManifest { name, members, place } = manifest;
        let place = format!("{}:{}", place.file, place.line);
        let team = Team { name, set: self.record.name.clone(), snapshot: self.snapshot, place, members };
        let Some(before) = before else { return Versioned::new(team).put().map(Some) };
        let same = Team { snapshot: before.snapshot, ..team.clone() } == **before;
        if same || before.snapshot > self.snapshot {
            return Ok(None);
        }
        before.clone().with(team).put().map(Some)
    }

    /// Writes some, and counts the change: a decision that read others is made again.
    async fn write_teams(&self, batch: &[Write]) -> Result<(), PortError> {
        let writes = batch.iter().cloned().chain([self.counted_change().await?]).collect();
        if self.ports.store.commit(writes).await? == Committed::Done {
            return Ok(());
        }
        Err(overtaken(&self.record.name))
    }

    /// The write that counts a change of what binds decisions.
    pub(super) async fn counted_change(&self) -> Result<Write, PortError> {
        let roster = load::<Roster>(self.ports.store.as_ref(), &Key::roster()).await?;
        let mut roster = roster.unwrap_or_else(|| Versioned::new(Roster::default()));
        roster.changes += 1;
        roster.put()
    }

    async fn known_teams(&self) -> Result<BTreeMap<ObjectName, Versioned<Team>>, PortError> {
        let (mut known, mut after) = (BTreeMap::new(), None);
        loop {
            let (partition, prefix) = (TEAMS.to_owned(), "team#".to_owned());
            let query = Query::Partition { partition, prefix, order: Order::Ascending, after, limit: PAGE };
            let (teams, next) = page::<Team>(self.ports.store.as_ref(), query).await?;
            known.extend(teams.into_iter().map(|team| (team.name.clone(), team)));
            match next {
                None => return Ok(known),
                next => after = next,
            }
        }
    }
}
