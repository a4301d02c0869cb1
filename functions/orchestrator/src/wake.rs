//! Wakes all stacks that the edges of a partition name.

use yuba_core::message::{Cause, Message, Wake};
use yuba_core::record::Edge;
use yuba_ports::records;
use yuba_ports::{Order, PortError, Ports, Query};

/// How many edges are read at once.
const PAGE: usize = 100;

/// Sends each stack that an edge of the partition names a message. Cut anywhere, it may be run again from the start:
/// the deduplication id is the same.
pub(crate) async fn wake_all(ports: &Ports, partition: String, cause: &Cause) -> Result<(), PortError> {
    let mut after = None;
    loop {
        let (partition, prefix) = (partition.clone(), String::new());
        let query = Query::Partition { partition, prefix, order: Order::Ascending, after, limit: PAGE };
        let (edges, next) = records::page::<Edge>(&*ports.store, query).await?;
        let messages =
            edges.iter().map(|edge| Message::new(Wake::Stack(edge.stack), cause.clone())).collect();
        ports.queue.send(messages).await?;
        match next {
            Some(cursor) => after = Some(cursor),
            None => return Ok(()),
        }
    }
}
