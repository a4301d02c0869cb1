//! Reading many records: pages of a partition, and records by key with several reads under way at once.

use futures_util::{StreamExt, TryStreamExt, stream};
use yuba_core::record::{Edge, Key, Record};
use yuba_ports::records::{Versioned, load, page};
use yuba_ports::{Order, PortError, Ports, Query};

/// How many records are read at once.
const PAGE: usize = 100;
/// How many reads are under way at once.
const READS: usize = 32;

/// All edges of a partition whose sort key starts with `stack#`.
pub(crate) async fn stack_edges(ports: &Ports, partition: &str) -> Result<Vec<Edge>, PortError> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let (partition, prefix) = (partition.to_owned(), "stack#".to_owned());
        let query = Query::Partition { partition, prefix, order: Order::Ascending, after, limit: PAGE };
        let (edges, next) = page::<Edge>(ports.store.as_ref(), query).await?;
        all.extend(edges.into_iter().map(Versioned::into_value));
        match next {
            None => return Ok(all),
            next => after = next,
        }
    }
}

/// The records at these keys, in this order; `None` where there is none.
pub(crate) async fn load_all<T: Record + Send>(
    ports: &Ports,
    keys: Vec<Key>,
) -> Result<Vec<Option<Versioned<T>>>, PortError> {
    let read = |key: Key| async move { load::<T>(ports.store.as_ref(), &key).await };
    stream::iter(keys).map(read).buffered(READS).try_collect().await
}
