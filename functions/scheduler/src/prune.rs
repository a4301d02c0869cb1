//! Forgets what was kept long enough: the records say themselves until when (see `Index::Expires`).

use yuba_core::record::{Index, sortable};
use yuba_core::time::Timestamp;
use yuba_ports::{Expected, Order, PortError, Ports, Query, Write};

/// How many records one tick forgets at most: as many as a commit holds.
const AT_ONCE: usize = 100;

/// Deletes records whose time is over. What was written meanwhile stays until the next tick.
pub(crate) async fn prune(ports: &Ports, now: Timestamp) -> Result<usize, PortError> {
    let query = Query::Index {
        index: Index::Expires,
        prefix: String::new(),
        up_to: Some(sortable(now)),
        order: Order::Ascending,
        after: None,
        limit: AT_ONCE,
    };
    let over = ports.store.query(query).await?.items;
    let count = over.len();
    let delete =
        |item: yuba_ports::Item| Write::Delete { key: item.key, expected: Expected::Version(item.version) };
    if count > 0 {
        ports.store.commit(over.into_iter().map(delete).collect()).await?;
    }
    Ok(count)
}
