//! Writes a decision down: all changed records in one transaction, conditional on the versions that were read, also of
//! the definition and the observation that it rests on. What the audit trail tells of it is among them: no decision is
//! without its entry, and no entry without its decision.

use yuba_core::decide::Decision;
use yuba_ports::records::Versioned;
use yuba_ports::{Committed, PortError, Ports, Write};

use crate::load::Loaded;

/// Commits a decision. A decision that changes nothing writes nothing.
pub(crate) async fn commit(
    ports: &Ports,
    loaded: &Loaded,
    decision: &Decision,
) -> Result<Committed, PortError> {
    let mut writes = writes(loaded, decision)?;
    if writes.is_empty() {
        return Ok(Committed::Done);
    }
    writes.extend(loaded.unchanged.iter().cloned());
    ports.store.commit(writes).await
}

fn writes(loaded: &Loaded, decision: &Decision) -> Result<Vec<Write>, PortError> {
    let mut writes = Vec::new();
    for run in &decision.runs {
        let known = loaded.run.clone().filter(|known| known.id == run.id);
        writes
            .push(known.map_or_else(|| Versioned::new(run.clone()), |known| known.with(run.clone())).put()?);
    }
    for attempt in &decision.attempts {
        let known = loaded.attempt.clone().filter(|known| known.id == attempt.id);
        writes.push(
            known
                .map_or_else(|| Versioned::new(attempt.clone()), |known| known.with(attempt.clone()))
                .put()?,
        );
    }
    if let (Some(known), Some(request)) = (&loaded.request, &decision.request) {
        writes.push(known.clone().with(request.clone()).put()?);
    }
    if let Some(former) = &decision.former {
        for known in loaded.formers.iter().filter(|known| known.stack.id == former.id) {
            writes.push(known.stack.clone().with(former.clone()).put()?);
            writes.push(known.unchanged.clone());
        }
    }
    if let Some(notice) = &decision.notice {
        writes.push(Versioned::new(notice.clone()).put()?);
    }
    for entry in &decision.audit {
        writes.push(Versioned::new(entry.clone()).put()?);
    }
    if !writes.is_empty() || *loaded.stack != decision.stack {
        writes.push(loaded.stack.clone().with(decision.stack.clone()).put()?);
    }
    Ok(writes)
}
