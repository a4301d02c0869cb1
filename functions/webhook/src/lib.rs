#![doc = include_str!("../README.md")]

mod accept;
mod answer;
mod router;
mod settings;
mod targets;

pub use router::{Webhook, router};
pub use settings::WebhookSettings;
