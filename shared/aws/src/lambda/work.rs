//! The queue that feeds a function: what becomes of messages that it could not handle.

use async_trait::async_trait;
use yuba_core::time::Span;
use yuba_ports::{PortError, QueueName};

use super::batch::Record;
use crate::SqsQueue;

/// What a function does with its messages beside answering for their batch.
#[async_trait]
pub(super) trait Settle: Sync {
    /// The message comes again once this has passed.
    async fn give_back(&self, record: &Record, after: Span) -> Result<(), PortError>;

    /// The message becomes a dead letter.
    async fn set_aside(&self, record: &Record, why: &str) -> Result<(), PortError>;

    /// The message does not come again, whatever becomes of its batch.
    async fn done(&self, record: &Record) -> Result<(), PortError>;
}

/// The queue that feeds a function.
#[derive(Debug, Clone)]
pub struct Work {
    pub(super) queue: SqsQueue,
    pub(super) name: QueueName,
}

#[async_trait]
impl Settle for Work {
    async fn give_back(&self, record: &Record, after: Span) -> Result<(), PortError> {
        self.queue.hide(self.name, &record.receipt_handle, after).await.map(drop)
    }

    async fn set_aside(&self, record: &Record, why: &str) -> Result<(), PortError> {
        let message = (record.body.clone(), record.group(), record.receipt_handle.as_str());
        self.queue.bury(self.name, message, why).await
    }

    async fn done(&self, record: &Record) -> Result<(), PortError> {
        self.queue.delete(self.name, &record.receipt_handle).await
    }
}
