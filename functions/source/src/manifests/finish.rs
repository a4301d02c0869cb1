//! What is written into a set's record when a look ends.

use std::collections::BTreeMap;

use yuba_core::manifest::{ManifestSet, Severity};
use yuba_core::source::{FindingCounts, ManifestSetRecord};
use yuba_ports::records::Versioned;
use yuba_ports::{Committed, PortError, Ports};

use super::{Taking, overtaken};
use crate::backoff::{self, Trouble};
use crate::report::Report;
use crate::settings::SourceSettings;

/// How many findings are kept.
const MOST_FINDINGS: usize = 200;

/// The place is not configured any more. What was taken over of it stays.
pub(super) async fn forget(
    ports: &Ports,
    record: &Versioned<ManifestSetRecord>,
) -> Result<Report, PortError> {
    let mut changed = record.clone();
    changed.due = None;
    write(ports, record, &changed).await?;
    Ok(Report::Nothing(
        "it is no configured place of manifests any more; its stacks stay as they are".to_owned(),
    ))
}

/// The documents are those of the last snapshot.
pub(super) async fn unchanged(
    ports: &Ports,
    settings: &SourceSettings,
    record: &Versioned<ManifestSetRecord>,
) -> Result<Report, PortError> {
    let mut changed = record.clone();
    changed.due = Some(ports.clock.now() + settings.manifests_interval);
    changed.failure = None;
    write(ports, record, &changed).await?;
    Ok(Report::Nothing(format!("nothing changed since snapshot {}", record.taken)))
}

/// The documents could not be read.
pub(super) async fn failed(
    ports: &Ports,
    settings: &SourceSettings,
    record: &Versioned<ManifestSetRecord>,
    trouble: &Trouble,
) -> Result<Report, PortError> {
    let interval = settings.manifests_interval;
    let (failure, again) = backoff::after(record.failure.as_ref(), trouble, interval, ports.clock.now());
    let mut changed = record.clone();
    changed.failure = Some(failure);
    changed.due = Some(again);
    write(ports, record, &changed).await?;
    Ok(Report::Failed { why: trouble.message.clone(), again })
}

/// Nothing of the documents may be taken over.
pub(super) async fn held_back(
    ports: &Ports,
    settings: &SourceSettings,
    record: &Versioned<ManifestSetRecord>,
    (set, trouble): (&ManifestSet, &Trouble),
) -> Result<Report, PortError> {
    let mut noted = record.clone();
    noted.findings = rendered(set);
    noted.found = counted(set);
    let (failure, again) =
        backoff::after(record.failure.as_ref(), trouble, settings.manifests_interval, ports.clock.now());
    noted.failure = Some(failure);
    noted.due = Some(again);
    write(ports, record, &noted).await?;
    warn_of(set, &noted);
    Ok(Report::Failed { why: trouble.message.clone(), again })
}

/// Errors hold documents back: whoever reads the log should not have to ask.
fn warn_of(set: &ManifestSet, record: &ManifestSetRecord) {
    for error in set.findings.iter().filter(|finding| finding.severity == Severity::Error) {
        tracing::warn!(manifests = %record.name, "{error}");
    }
}

impl Taking<'_> {
    /// The snapshot is complete: every stack and source that it concerned was woken.
    pub(super) async fn finish(
        self,
        settings: &SourceSettings,
        values: BTreeMap<String, String>,
    ) -> Result<Report, PortError> {
        let mut done = self.record.clone();
        done.taken = self.snapshot;
        // What another set is in the way of may be free at the next look, though the documents stay the same.
        done.digest = self.findings.is_empty().then(|| self.documents.digest.clone());
        done.values = values;
        done.found = counted(&self.set);
        self.findings.iter().for_each(|_| done.found.count(Severity::Error));
        done.findings.clone_from(&self.findings);
        done.findings.extend(rendered(&self.set));
        done.findings.truncate(MOST_FINDINGS);
        done.failure = None;
        done.due = Some(self.ports.clock.now() + settings.manifests_interval);
        write(self.ports, &self.record, &done).await?;
        warn_of(&self.set, &done);
        let set = self.record.name.clone();
        let findings = self.set.findings.len() + self.findings.len();
        Ok(Report::TookOver { set, snapshot: self.snapshot, woke: self.woke, findings })
    }
}

fn counted(set: &ManifestSet) -> FindingCounts {
    let mut counts = FindingCounts::default();
    set.findings.iter().for_each(|finding| counts.count(finding.severity));
    counts
}

/// The findings for people: what is wrong first.
fn rendered(set: &ManifestSet) -> Vec<String> {
    let of = |severity| set.of_severity(severity).map(ToString::to_string);
    let all = of(Severity::Error).chain(of(Severity::Warning)).chain(of(Severity::Notice));
    all.take(MOST_FINDINGS).collect()
}

async fn write(
    ports: &Ports,
    before: &Versioned<ManifestSetRecord>,
    after: &Versioned<ManifestSetRecord>,
) -> Result<(), PortError> {
    if before == after || ports.store.commit(vec![after.put()?]).await? == Committed::Done {
        return Ok(());
    }
    Err(overtaken(&before.name))
}
