//! Serves batches of messages.

use std::convert::Infallible;

use lambda_http::lambda_runtime;
use lambda_http::{LambdaEvent, service_fn};
use yuba_core::message::Message;
use yuba_core::time::Timestamp;
use yuba_ports::{Clock, PortError};

use super::Error;
use super::batch::{Batch, Record, handle_all};
use super::clock::SystemClock;
use super::metrics::{Metric, Metrics};
use super::time_left::until;
use super::work::Work;

/// Has messages of a queue handled until the environment is taken away, at most `most` of one group together; those that
/// fail come again, and those that trying again cannot help become dead letters.
pub async fn messages<F>(
    (work, metrics): (&Work, &Metrics),
    most: usize,
    handle: impl Fn(Vec<Message>) -> F + Copy,
) -> Result<(), Error>
where
    F: Future<Output = Result<(), PortError>>,
{
    lambda_runtime::run(service_fn(async |event: LambdaEvent<Batch>| {
        metrics.put(&queue_age(&event.payload, SystemClock.now()));
        Ok::<_, Infallible>(handle_all(event.payload, until(&event.context), (most, work), handle).await)
    }))
    .await
}

/// How long the message that waited longest had waited.
fn queue_age(batch: &Batch, now: Timestamp) -> Vec<Metric> {
    let first = batch.records.iter().filter_map(Record::sent).min();
    first.map(|sent| Metric::time("QueueAge", now.since(Timestamp(sent)))).into_iter().collect()
}
