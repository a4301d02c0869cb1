//! Anchors the audit trail: once a day, by the first tick that comes.

use yuba_core::audit::{AUDIT_ANCHORS, AuditAnchor, AuditHead, anchors};
use yuba_core::record::{Index, Installation, Key};
use yuba_core::stack::Stack;
use yuba_core::time::Timestamp;
use yuba_ports::records::{Versioned, load, page};
use yuba_ports::{Committed, Order, PortError, Ports, Query};

/// How many stacks are read at once.
const PAGE: usize = 100;

/// Writes the day's anchors, unless they are there. Of two ticks at once, one does. Each hash is logged too: a log that is
/// kept elsewhere witnesses what the store held.
pub(crate) async fn anchor(ports: &Ports, now: Timestamp) -> Result<(), PortError> {
    let newest = newest(ports).await?;
    if !AuditAnchor::is_due(newest.as_ref(), now) {
        return Ok(());
    }
    let made = anchors(newest.as_ref(), &heads(ports).await?, now);
    let writes: Result<_, _> = made.iter().map(|anchor| Versioned::new(anchor.clone()).put()).collect();
    if ports.store.commit(writes?).await? == Committed::Done {
        for AuditAnchor { number, hash, heads, .. } in &made {
            tracing::info!(number, %hash, chains = heads.len(), "the audit trail was anchored");
        }
    }
    Ok(())
}

async fn newest(ports: &Ports) -> Result<Option<AuditAnchor>, PortError> {
    let query = Query::Partition {
        partition: AUDIT_ANCHORS.to_owned(),
        prefix: String::new(),
        order: Order::Descending,
        after: None,
        limit: 1,
    };
    let (anchors, _) = page::<AuditAnchor>(&*ports.store, query).await?;
    Ok(anchors.into_iter().next().map(Versioned::into_value))
}

/// The last entries of all chains.
async fn heads(ports: &Ports) -> Result<Vec<AuditHead>, PortError> {
    let installation = load::<Installation>(&*ports.store, &Key::installation()).await?;
    let mut heads: Vec<AuditHead> =
        installation.and_then(|installation| installation.audit).into_iter().collect();
    let mut after = None;
    loop {
        let (index, prefix, up_to) = (Index::Stacks, String::new(), None);
        let query = Query::Index { index, prefix, up_to, order: Order::Ascending, after, limit: PAGE };
        let (stacks, next) = page::<Stack>(&*ports.store, query).await?;
        heads.extend(stacks.iter().filter_map(|stack| stack.audit));
        after = next;
        if after.is_none() {
            return Ok(heads);
        }
    }
}
