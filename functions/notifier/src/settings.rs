//! What the notifier works with beside the ports.

use std::sync::Arc;

use yuba_ports::Http;

/// The settings of the notifier.
#[derive(Clone)]
pub struct NotifierSettings {
    /// The way out.
    pub http: Arc<dyn Http>,
    /// Where people reach the pages, without a slash at the end: messages link there.
    pub web: Option<String>,
    /// Whether messages have buttons.
    pub buttons: Buttons,
    /// Where AWS' services are reached, where that is not where they are for everybody.
    pub aws_endpoint: Option<String>,
}

/// Whether messages have buttons: only where somebody hears when they are pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Buttons {
    /// Presses come back.
    Shown,
    /// Nobody would hear of a press.
    Hidden,
}
