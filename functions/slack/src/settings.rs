//! What the Slack function is set up with.

use std::sync::Arc;

use secrecy::SecretString;
use yuba_ports::Http;

/// Settings of the Slack function.
#[derive(Clone)]
pub struct SlackSettings {
    /// Secrets that Slack may sign with; several while one replaces another. Without any, everything is refused.
    pub signing_secrets: Vec<SecretString>,
    /// The way to Slack's methods.
    pub http: Arc<dyn Http>,
}
