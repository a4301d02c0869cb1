//! What the webhook function is set up with.

use secrecy::SecretString;
use yuba_core::id::ManifestSetName;

/// Settings of the webhook function.
#[derive(Debug, Clone, Default)]
pub struct WebhookSettings {
    /// Secrets that GitHub may sign with; several while one replaces another. Without any, every delivery is refused.
    pub github: Vec<SecretString>,
    /// Secrets that the generic endpoint's senders may sign with.
    pub generic: Vec<SecretString>,
    /// The configured places of manifests; those in Git are woken by pushes to their repository.
    pub manifests: Vec<ManifestSetName>,
}
