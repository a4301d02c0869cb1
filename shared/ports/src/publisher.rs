//! `Publisher`: facts go out.

use async_trait::async_trait;
use yuba_core::event::Event;

use crate::error::PortError;

/// Publishes events. On AWS SNS, on one machine the store's event list and the log.
#[async_trait]
pub trait Publisher: Send + Sync {
    /// Publishes an event; the same again (by [`Event::id`]) does no harm.
    async fn publish(&self, event: &Event) -> Result<(), PortError>;
}
