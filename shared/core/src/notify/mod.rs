//! Who is told of what, and what becomes of each telling.
//!
//! An event is chosen for providers by alerts ([`route`]); for each chosen one a [`Notification`] is stored, and stays
//! pending until it was delivered or given up. What stands between a provider and its messages is known of the provider
//! as a whole ([`ProviderHealth`]): one that cannot be reached holds up its own messages, and nobody else's.

mod alert;
mod health;
mod incident;
mod notification;
mod provider;
mod said;
mod thread;

pub use alert::{Alert, AlertSpec, EventSource, pattern, route};
pub use health::{LastError, ProviderHealth};
pub use incident::{Incident, IncidentCause, incidents_partition};
pub use notification::{Mend, NoticeState, Notification, Occasion, Undelivered};
pub use notification::{pending_partition, settled_partition};
pub use provider::{Provider, ProviderSpec, Service};
pub use said::Said;
pub use thread::{SlackMessage, SlackThread, drift_stands, threads_partition};
